import { createHash } from 'node:crypto';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Client } from '../../client/client.ts';
import { Refusal } from '../../client/refusal.ts';
import { type FileUploadOptions, sendFile } from './file-upload.ts';

const TEXT = 'The lighthouse of Karvo was built in 1893.';

/** Sends a file to a server that takes it, and answers `finalize` by `finalize`. */
async function sendTo(t: Test, finalize: () => object) {
  const folder = t.testdir({ 'a.txt': TEXT });
  const asked: string[] = [];
  const pauses: number[] = [];
  const client = {
    call: async (route: string): Promise<object> => {
      const name = route.replace('/api/v1/upload/', '');
      asked.push(name);
      if (name === 'POST finalize') return finalize();
      return { upload_id: 'u', chunk_size: 1_000, received: [] };
    },
  } as unknown as Client;
  const options: FileUploadOptions = {
    client,
    tenant: 'red',
    namespace: 'kb',
    signal: new AbortController().signal,
    pause: async (ms) => pauses.push(ms),
    onProgress: () => {},
    onNote: () => {},
  };
  const file = { path: join(folder, 'a.txt'), source: 'a.txt', sizeBytes: TEXT.length, isNamed: true };
  return { sent: await sendFile(file, createHash('sha256').update(TEXT).digest('hex'), options), asked, pauses };
}

function notEmbedded(): never {
  throw new Refusal(502, 'embedding_failed', 'The embedding service cannot be reached.');
}

t.test('what the server did not read of a file is told', async (t) => {
  const warnings = ['1 of 3 pages have no text layer and are not indexed: 3.'];
  const { sent } = await sendTo(t, () => ({ id: 'd', state: 'indexed', warnings }));
  t.strictSame(sent, { state: 'indexed', warnings });
});

t.test('a file that could not be embedded is tried again after growing pauses', async (t) => {
  let nAnswers = 0;
  const indexed = { id: 'd', state: 'indexed' };
  const { sent, pauses } = await sendTo(t, () => (++nAnswers < 3 ? notEmbedded() : indexed));
  t.match(sent, { state: 'indexed' });
  t.strictSame(pauses, [2_000, 4_000]);
});

t.test('one that is not embedded after some attempts is refused by itself, and what was sent of it stays', async (t) => {
  const { sent, asked, pauses } = await sendTo(t, notEmbedded);
  t.match(sent, { refused: /^embedding_failed: .*cannot be reached/, isTemporary: true });
  t.strictSame(asked, ['POST init', 'POST chunk', ...Array(4).fill('POST finalize')]);
  t.strictSame(pauses, [2_000, 4_000, 8_000]);
});
