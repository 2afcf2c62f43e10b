/** Files of models that other nodes are given. */
import { once } from 'node:events';
import { truncateSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import type { LinkRequest } from './link-listener.ts';
import { MODEL_FILE_PATH, ModelFileServer } from './model-files.ts';

/** More than the buffers between two processes hold. */
const SIZE_BYTES = 64 * 2 ** 20;

t.test('a node that takes nothing of a file keeps no place from others', { timeout: 30_000 }, async (t) => {
  const path = join(newFolder(t), 'model.gguf');
  writeFileSync(path, '');
  truncateSync(path, SIZE_BYTES);
  const sha256 = 'a'.repeat(64);
  const files = new ModelFileServer(() => ({ find: async () => ({ path, sizeBytes: SIZE_BYTES, sha256 }) }) as never, 200);
  const server = createServer((request, response) => {
    void files.answer({ path: request.url, request, response } as unknown as LinkRequest);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const ask = async (): Promise<IncomingMessage> => {
    const asked = get({ port, path: MODEL_FILE_PATH + sha256, agent: false });
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return answer.on('error', () => undefined);
  };
  const hung = await Promise.all([1, 2, 3, 4].map(ask));
  t.strictSame(
    hung.map(({ statusCode }) => statusCode),
    [200, 200, 200, 200],
  );
  const refused = await ask();
  t.equal(refused.statusCode, 503, 'all places are taken');
  refused.resume();
  await Promise.all(hung.map((answer) => once(answer.resume(), 'close')));
  const answer = await ask();
  t.equal(answer.statusCode, 200);
  answer.destroy();
});
