/** The nodes of a cluster at the command line: here a single one. */
import t from 'tap';
import { send } from '../../../test/http.ts';
import { startServer } from '../../../test/server.ts';
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
