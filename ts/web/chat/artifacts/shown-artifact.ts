/** The artifact that is shown beside the conversation, and its versions. */
import { effect, signal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { showToast } from '../../design/toasts.tsx';
import { explain } from '../../session/explain.ts';
import { type CodeBlock, shownBlock } from '../markdown/block-choice.ts';
import { onLeave, path } from '../thread/shown-thread.ts';
import type { FoundArtifact } from './found-artifacts.ts';
import { contentOf } from './stored-versions.ts';

export interface ShownVersion {
  content: string;
  messageId?: string | undefined;
}

export interface ShownArtifact {
  /** Counts what was opened, so that each opening begins anew. */
  opening: number;
  kind: FoundArtifact['kind'];
  language: string;
  title: string;
  versions: readonly ShownVersion[];
  at: number;
  /** The id of one that is stored. */
  id?: string;
  /** It is somebody else's. */
  isForeign?: boolean;
}

let nOpened = 0;

export const shownArtifact = signal<ShownArtifact | undefined>(undefined);

function open(artifact: Omit<ShownArtifact, 'opening'>): void {
  nOpened++;
  shownArtifact.value = { ...artifact, opening: nOpened };
}

export function closeArtifact(): void {
  shownArtifact.value = undefined;
}

/** Blocks that a reader opens are looked up in the shown branch, which has their other versions. */
effect(() => {
  const block = shownBlock.value;
  if (block === undefined) return;
  shownBlock.value = undefined;
  void openBlock(block).catch((error: unknown) => showToast(explain(error)));
});

async function openBlock(block: CodeBlock): Promise<void> {
  const { versionsOf } = await import('./found-artifacts.ts');
  const versions = versionsOf(path.peek(), block);
  const at = versions.findLastIndex(({ content }) => content === block.text);
  const [first] = versions;
  if (first !== undefined) open({ ...first, versions, at: Math.max(0, at) });
}

onLeave(closeArtifact);

/** Throws Refusal. */
export async function openStoredArtifact(id: string): Promise<void> {
  const { versions, ...detail } = await call('GET /api/v1/artifacts/{id}', { params: { id } });
  const contents = await Promise.all(
    versions.slice(-20).map(async ({ version, message_id: messageId }) => ({
      content: await contentOf(id, version),
      messageId: messageId ?? undefined,
    })),
  );
  const { kind, language, title } = detail;
  open({ kind, language: language ?? '', title, versions: contents, at: contents.length - 1, id });
}

/** Throws Refusal. */
export async function openSharedArtifact(share: string): Promise<void> {
  const found = await call('GET /api/v1/artifacts/share/{share}', { params: { share } });
  const { kind, language, title, content } = found;
  open({ kind, language: language ?? '', title, versions: [{ content }], at: 0, isForeign: true });
}
