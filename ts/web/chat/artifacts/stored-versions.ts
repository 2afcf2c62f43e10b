/** What the versions of stored artifacts hold. A version never changes, so that each is asked for once. */
import { call } from '../../api/call.ts';

const contents = new Map<string, Promise<string>>();

/** Throws Refusal. */
export async function contentOf(id: string, version: number): Promise<string> {
  const key = `${id} ${version}`;
  const known = contents.get(key);
  if (known !== undefined) return known;
  const asked = call('GET /api/v1/artifacts/{id}', { params: { id }, query: { version } }).then(({ content }) => content);
  contents.set(key, asked);
  asked.catch(() => contents.delete(key));
  return asked;
}

/** The last version that has it, by content. Throws Refusal. */
export async function versionsByContent(id: string): Promise<Map<string, number>> {
  const { versions } = await call('GET /api/v1/artifacts/{id}', { params: { id } });
  const found = new Map<string, number>();
  for (const { version } of versions) found.set(await contentOf(id, version), version);
  return found;
}
