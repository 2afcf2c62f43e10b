/** Stores artifacts of a conversation on the server, each version once. */
import { call } from '../../api/call.ts';
import { newId } from '../thread/message.ts';
import { conversation } from '../thread/shown-thread.ts';
import { type ShownArtifact, type ShownVersion, shownArtifact } from './shown-artifact.ts';
import { versionsByContent } from './stored-versions.ts';

export interface StoredArtifact {
  id: string;
  /** The version of the content that is shown, as the server counts. */
  version: number;
}

/** All versions up to the one that is shown. Throws Refusal. */
export async function storeArtifact(artifact: ShownArtifact): Promise<StoredArtifact> {
  const { versions, at } = artifact;
  const wanted = versions.slice(0, at + 1);
  const found = await findStored(artifact);
  const id = found?.id ?? newId();
  const stored = found?.stored ?? new Map<string, number>();
  for (const version of wanted) {
    if (stored.has(version.content)) continue;
    const isFirst = stored.size === 0 && found === undefined;
    stored.set(version.content, isFirst ? await create(id, artifact, version) : await append(id, version));
  }
  if (shownArtifact.value === artifact) shownArtifact.value = { ...artifact, id };
  return { id, version: stored.get(versions[at]?.content ?? '') ?? 1 };
}

interface Found {
  id: string;
  /** Versions by what they hold. */
  stored: Map<string, number>;
}

/** One of the same kind and title in the conversation is the same artifact; without a title, one that holds the same. */
async function findStored({ id, kind, language, title, versions }: ShownArtifact): Promise<Found | undefined> {
  if (id !== undefined) return { id, stored: await versionsByContent(id) };
  const open = conversation.value;
  if (open === undefined) return undefined;
  const { data } = await call('GET /api/v1/artifacts', { query: { conversation_id: open.id } });
  for (const each of data) {
    if (each.kind !== kind || (each.language ?? '') !== language || each.title !== title) continue;
    const stored = await versionsByContent(each.id);
    if (title !== '' || versions.some(({ content }) => stored.has(content))) return { id: each.id, stored };
  }
  return undefined;
}

async function create(id: string, { kind, language, title }: ShownArtifact, version: ShownVersion): Promise<number> {
  const open = conversation.value;
  const { last_version: number } = await call('POST /api/v1/artifacts', {
    body: {
      id,
      title,
      kind,
      ...(language === '' ? {} : { language }),
      ...(open === undefined ? {} : { conversation_id: open.id }),
      ...bodyOf(version),
    },
  });
  return number;
}

async function append(id: string, version: ShownVersion): Promise<number> {
  const { last_version: number } = await call('POST /api/v1/artifacts/{id}/versions', {
    params: { id },
    body: bodyOf(version),
  });
  return number;
}

function bodyOf({ content, messageId }: ShownVersion): { content: string; message_id?: string } {
  return { content, ...(messageId === undefined || messageId === '' ? {} : { message_id: messageId }) };
}
