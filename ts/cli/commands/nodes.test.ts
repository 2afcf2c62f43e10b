/** The nodes of a cluster at the command line: here a single one. */
import { join } from 'node:path';
import t from 'tap';
import { post, send } from '../../../test/http.ts';
import { embeddingModel, startServer } from '../../../test/server.ts';
import { writeJoinToken } from '../../server/domains/cluster/join/join-token.ts';
import { runCli } from '../run-cli.ts';

t.test('a node is listed, drained, and takes work again', async (t) => {
  const { url } = await startServer(t, { models: {} });
  const svc = (...args: string[]) => runCli(['node', ...args, '--url', url]);
  const [node] = (await runCli(['node', 'list', '--url', url, '--json'])).json() as { id: string }[];
  const { id = '' } = node ?? {};
  t.match(await svc('list'), {
    code: 0,
    stdout: new RegExp(`^NAME .*\n\\S+ +ready +\\S+ +0 s ago +[\\d.]+ +controller .* ${id}\n$`),
  });
  const ready = async () => (await send(`${url}/readyz`)).status;
  t.match(await svc('drain', id), { code: 0, stdout: /is draining\n$/ });
  t.equal(await ready(), 503);
  t.match((await send(`${url}/health`)).json, { status: 'draining', module_map: { size: 1, stale: false } });
  t.match(await svc('resume', id), { code: 0, stdout: /is ready\n$/ });
  t.equal(await ready(), 200);
  t.match(await svc('roles', id), { code: 0, stdout: / has controller .* logs\n$/ });
  t.match(await svc('roles', id, 'logs', 'off'), { code: 0, stdout: / has controller (?!.*logs)/ });
  t.strictSame((await svc('roles', id, '--json')).json(), (await svc('roles', id, 'logs', 'off', '--json')).json());
  t.match(await svc('roles', id, 'logs'), { code: 2 });
  t.match(await svc('roles', id, 'chief', 'on'), { code: 2, stderr: /"chief" is no role/ });
  t.match(await svc('roles', '00000000-0000-4000-8000-000000000000'), { stderr: /no node of this cluster/ });
  t.match(await svc('rm', id), { stderr: /runs, and would be back/ });
  t.match(await svc('drain', '00000000-0000-4000-8000-000000000000'), { stderr: /No node of this cluster/ });
});

t.test('a machine with documents joins no cluster unless it is forced, whether it runs or not', async (t) => {
  const folder = t.testdir();
  const server = await startServer(t, {
    models: { [embeddingModel]: { arch: 'bert' } },
    folder,
    env: { SVC_CLUSTER_LISTEN: '127.0.0.1:0', SVC_DATA_EMBEDDING_URL: '' },
  });
  const document = { tenant: 'default', namespace: 'town', source: 'a', text: 'The keeper of the lighthouse is Mira Doll.' };
  t.equal((await post(`${server.url}/api/v1/vector/ingest`, document)).status, 201);
  // Nobody is there.
  const token = writeJoinToken({
    address: '127.0.0.1:9',
    fingerprint: Array(32).fill('AA').join(':'),
    secret: 'x'.repeat(43),
  });
  const env = {
    SVC_DATA_DIR: join(folder, 'data'),
    SVC_LISTEN: new URL(server.url).host,
    SVC_CLUSTER_LISTEN: '127.0.0.1:1',
  };
  const svc = (...more: string[]) => runCli(['node', 'join', token, ...more], { env });
  const refused = { stdout: '', stderr: /knowledge bases/ };
  t.match(await svc(), refused);
  await server.stop();
  t.match(await svc(), refused);
  t.match(await svc('--force'), { stdout: '', stderr: /cannot be joined/ });
});
