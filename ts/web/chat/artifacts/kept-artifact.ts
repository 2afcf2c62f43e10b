/** Stores artifacts of a conversation on the server, each version once, and shares them. */
import { call } from '../../api/call.ts';
import { copyText } from '../../design/clipboard.ts';
import { newId } from '../thread/message.ts';
import { conversation } from '../thread/shown-thread.ts';
import { type ShownArtifact, shownArtifact } from './shown-artifact.ts';

interface Kept {
  id: string;
  /** Of the content that is shown, as the server counts. */
  version: number;
}

/** All versions up to the one that is shown. Throws Refusal. */
export async function keepArtifact(artifact: ShownArtifact): Promise<Kept> {
  const { versions, at } = artifact;
  let kept = await findKept(artifact);
  for (const { content, messageId } of versions.slice(0, at + 1)) {
    const message = messageId === undefined || messageId === '' ? {} : { message_id: messageId };
    if (kept === undefined) kept = await create(artifact, { content, ...message });
    else if (!(await hasContent(kept.id, content))) {
      const { id, last_version: version } = await call('POST /api/v1/artifacts/{id}/versions', {
        params: { id: kept.id },
        body: { content, ...message },
      });
      kept = { id, version };
    }
  }
  if (kept === undefined) throw new Error('there is nothing to keep');
  if (shownArtifact.value === artifact) shownArtifact.value = { ...artifact, id: kept.id };
  return { id: kept.id, version: await versionWith(kept, versions[at]?.content) };
}

/** The link is copied. Throws Refusal. */
export async function shareArtifact(artifact: ShownArtifact): Promise<void> {
  const { id, version } = await keepArtifact(artifact);
  const { path } = await call('POST /api/v1/artifacts/share/', { body: { id, version } });
  await copyText(new URL(path, location.href).href);
}

/** One of the same kind and title in the conversation is the same artifact. */
async function findKept({ id, kind, title }: ShownArtifact): Promise<Kept | undefined> {
  if (id !== undefined) return { id, version: 0 };
  const open = conversation.value;
  if (open === undefined) return undefined;
  const { data } = await call('GET /api/v1/artifacts', { query: { conversation_id: open.id } });
  const found = data.find((each) => each.kind === kind && each.title === title);
  return found && { id: found.id, version: found.last_version };
}

async function create(
  { kind, language, title }: ShownArtifact,
  version: { content: string; message_id?: string },
): Promise<Kept> {
  const open = conversation.value;
  const { id } = await call('POST /api/v1/artifacts', {
    body: {
      id: newId(),
      title,
      kind,
      ...(language === '' ? {} : { language }),
      ...(open === undefined ? {} : { conversation_id: open.id }),
      ...version,
    },
  });
  return { id, version: 1 };
}

async function hasContent(id: string, content: string): Promise<boolean> {
  return (await findVersion(id, content)) !== undefined;
}

async function versionWith({ id, version }: Kept, content: string | undefined): Promise<number> {
  return (content === undefined ? undefined : await findVersion(id, content)) ?? version;
}

async function findVersion(id: string, content: string): Promise<number | undefined> {
  const { versions } = await call('GET /api/v1/artifacts/{id}', { params: { id } });
  for (const { version } of versions.toReversed()) {
    const stored = await call('GET /api/v1/artifacts/{id}', { params: { id }, query: { version } });
    if (stored.content === content) return version;
  }
  return undefined;
}
