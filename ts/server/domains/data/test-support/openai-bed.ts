/** The unmodified `openai` package on a server of the module's own routes, and texts to give it. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import type { Test } from 'tap';
import type { NewDatabase } from '../../../platform/storage/test-support/each-database.ts';
import { DEVELOPER, type KnowledgeBed, type KnowledgeBedOptions, openKnowledgeBed } from './knowledge-bed.ts';

export const LIGHTHOUSE = 'The lighthouse of Karvo was built in 1893 and is 41 metres high. Its keeper is Mira Doll.';
export const BAKERY = 'The bakery in the harbour street sells rye bread and poppy cake every morning from six.';

export const pollIntervalMs = 20;

export function clientOf({ url }: Pick<KnowledgeBed, 'url'>, caller = DEVELOPER): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0, defaultHeaders: { 'x-caller': caller } });
}

export const textFile = (name: string, text: string) => toFile(Buffer.from(text), name);

interface OpenaiBed {
  readonly bed: KnowledgeBed;
  readonly client: OpenAI;
}

type OpenOpenaiBed = (t: Test, options?: KnowledgeBedOptions) => Promise<OpenaiBed>;

export function openaiBeds(newDatabase: NewDatabase): OpenOpenaiBed {
  return async (t, options = {}) => {
    const bed = await openKnowledgeBed(t, newDatabase, options);
    return { bed, client: clientOf(bed) };
  };
}

export async function refused(t: Test, asked: PromiseLike<unknown>, expected: object): Promise<void> {
  const answer = await asked.then(
    () => 'it was accepted',
    (error: unknown) => error,
  );
  t.match(answer, expected);
}

export async function blobsOf({ dataDir }: KnowledgeBed): Promise<string[]> {
  return await filesBelow(join(dataDir, 'blobs'));
}

export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}
