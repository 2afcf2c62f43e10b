/**
 * How many files of the server one streamed chat runs through, when everything is warm: what a stranger would open who follows a request.
 * V8 counts the calls of each function, so that what is loaded and not run does not count.
 */
import { mkdir, symlink } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { randomModel } from '../models/random/fixture.ts';
import { createServer } from '../ts/server/main.ts';
import { newFolder } from '../ts/server/platform/files/test-support/new-folder.ts';
import { loadNodeConfig } from '../ts/server/settings.ts';
import { post } from './http.ts';

/** May only shrink. */
const MOST_FILES = 63;
const FEWEST_ROUNDS = 11;
const MOST_ROUNDS = 60;
const root = fileURLToPath(new URL('..', import.meta.url));

async function openServer(): Promise<string> {
  const folder = newFolder(t);
  await mkdir(join(folder, 'models'), { recursive: true });
  await symlink(await randomModel({ arch: 'llama' }), join(folder, 'models', 'tiny.gguf'));
  const environment = {
    SVC_DATA_DIR: join(folder, 'data'),
    SVC_MODELS_DIR: join(folder, 'models'),
    SVC_LISTEN: '127.0.0.1:0',
    SVC_INFERENCE_PROBE_MODELS: 'false',
  };
  const server = await createServer(loadNodeConfig({ root: folder, environment }), {
    sink: { write: () => {}, flush: () => {} },
  });
  const { internal } = await server.start();
  t.teardown(() => server.stop());
  await server.ready();
  return `http://127.0.0.1:${internal.port}`;
}

/** Files with a function that was called since the last look. */
async function calledFiles(session: Session): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const called = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
  const paths = called.filter(({ url }) => url.startsWith('file:')).map(({ url }) => relative(root, fileURLToPath(url)));
  return paths.filter((path) => path.startsWith('ts/')).sort();
}

t.test('a warm streamed chat runs through few files', async (t) => {
  const url = await openServer();
  const chat = async () => {
    const messages = [{ role: 'user', content: 'Hello' }];
    const { status, text } = await post(`${url}/v1/chat/completions`, { model: 'tiny', messages, stream: true, max_tokens: 8 });
    t.equal(status, 200, text);
    t.match(text, /\[DONE\]/);
  };
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await chat();
  await calledFiles(session);
  let files: string[] = [];
  // What runs by the clock is in some rounds, and on a busy machine in most.
  for (let round = 0; round < FEWEST_ROUNDS || (files.length > MOST_FILES && round < MOST_ROUNDS); round += 1) {
    await chat();
    const called = await calledFiles(session);
    files = round === 0 ? called : files.filter((file) => called.includes(file));
  }
  t.comment(`${files.length} files\n${files.join('\n')}`);
  t.ok(files.length <= MOST_FILES, `${files.length} files, and at most ${MOST_FILES}`);
  t.ok(files.length > 20, 'they were counted');
});
