/** Against a scripted server, which does what a real one does in the moment of its start alone. */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { LOCAL_TOKEN_FILE } from '../../server/domains/identity/index.ts';
import { runCli } from '../run-cli.ts';

type Handler = (request: IncomingMessage, answer: (status: number, body: object) => void, response: ServerResponse) => void;

/** Configured as the server of this machine, with a token in its data folder. */
async function openScripted(t: Test, handle: Handler) {
  const dataDir = join(t.testdir(), 'data');
  mkdirSync(dataDir);
  const writeToken = (token: string) => writeFileSync(join(dataDir, LOCAL_TOKEN_FILE), token);
  writeToken('svcl_stale');
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => handle(request, (status, body) => response.writeHead(status).end(JSON.stringify(body)), response));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const env = { SVC_LISTEN: `127.0.0.1:${port}`, SVC_DATA_DIR: dataDir };
  return { writeToken, svc: (...args: string[]) => runCli(args, { env }) };
}

const user = { id: 'usr_1', username: 'ann', role: 'superadmin', tenant: 'default' };
const refusal = { error: 'invalid_credential', detail: 'The token is unknown.' };

t.test('a token that is outdated is read again, and the request sent once more', async (t) => {
  const sent: (string | undefined)[] = [];
  const { svc, writeToken } = await openScripted(t, ({ url, headers }, answer) => {
    sent.push(headers.authorization);
    if (url === '/api/v1/identity/users') return answer(201, user);
    if (headers.authorization === 'Bearer svcl_new') return answer(200, { api_key: 'svc_key' });
    writeToken('svcl_new');
    answer(401, refusal);
  });
  t.match(await svc('admin', 'create', 'ann', '--key'), {
    code: 0,
    stdout: /password \(shown once\): \S{20}\nAPI key \(shown once\): svc_key/,
  });
  t.strictSame(sent, ['Bearer svcl_stale', 'Bearer svcl_stale', 'Bearer svcl_new']);
});

t.test('a token that is refused and no other one is not sent twice', async (t) => {
  let nAsked = 0;
  const { svc } = await openScripted(t, (_, answer) => {
    nAsked += 1;
    answer(401, refusal);
  });
  t.match(await svc('admin', 'create', 'ann', '--key'), { code: 1, stdout: '', stderr: /401: The token is unknown/ });
  t.equal(nAsked, 1);
});

t.test('the password of an account that was made is shown, whatever becomes of its key', async (t) => {
  const { svc } = await openScripted(t, ({ url }, answer) =>
    url === '/api/v1/identity/users' ? answer(201, user) : answer(503, { error: 'storage_unavailable', detail: 'No.' }),
  );
  t.match(await svc('admin', 'create', 'ann', '--key'), {
    code: 1,
    stdout: /password \(shown once\): \S{20}\nits key was not made: `svc key create NAME --user ann` makes one/,
    stderr: /503: No\./,
  });
  const { stdout } = await svc('admin', 'create', 'ann', '--key', '--json');
  t.match(JSON.parse(stdout), { username: 'ann', password: /^\S{20}$/ });
});

t.test('the password of an account that may have been made is shown before the error', async (t) => {
  const { svc } = await openScripted(t, (_, __, response) => response.destroy());
  for (const command of [
    ['admin', 'create', 'ann'],
    ['user', 'create', 'ann'],
  ])
    t.match(await svc(...command), { stdout: /not known[^\n]*\npassword \(shown once\): \S{20}\n/, stderr: /no server answers/ });
});

t.test('where nothing listens nothing was made', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const env = { SVC_LISTEN: `127.0.0.1:${port}`, SVC_DATA_DIR: t.testdir() };
  t.match(await runCli(['admin', 'create', 'ann'], { env }), { stdout: '', stderr: /no server answers/ });
});
