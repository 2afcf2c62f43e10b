/** A machine joins before the first account. Then the database goes away, and requests wait for it, at controllers and through the member alike. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { PostgresCluster } from '../ts/server/platform/storage/test-support/postgres-cluster.ts';
import { type ChildServer, freePort } from './child-server.ts';
import { type HttpAnswer, send } from './http.ts';
import { chatModel, startServer } from './server.ts';

const account = { username: 'root', password: 'correct horse battery staple' };
/** A node that gives no sign of life is given up sooner. */
const AWAY_MS = 9_000;
/** So many that some of them are under way when the database has gone. */
const N_STREAMS = 8;
/** More than a client has ahead of what is recorded. */
const STREAM_TOKENS = 320;

async function startNode(t: Test, folder: string, env: Record<string, string>): Promise<ChildServer> {
  const common = {
    SVC_CLUSTER_LISTEN: `127.0.0.1:${await freePort()}`,
    SVC_CLUSTER_HEARTBEAT_SECONDS: '1',
    // On a busy machine PostgreSQL takes a while to begin.
    SVC_CLUSTER_WAIT_SECONDS: '60',
  };
  return await startServer(t, { models: { [chatModel]: { arch: 'llama' } }, env: { ...common, ...env }, folder });
}

async function until(isTrue: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isTrue())) await wait(20);
}

t.test('a cluster whose database goes away', { skip: PostgresCluster.missing() ?? false, timeout: 240_000 }, async (t) => {
  const postgres = await PostgresCluster.startOwn();
  t.teardown(() => postgres.remove());
  const database = { SVC_DATABASE_URL: await postgres.newDatabase() };
  const folder = t.testdir();
  /** Until the end of all of the test. */
  const start = (name: string, env: Record<string, string>) => startNode(t, join(folder, name), env);
  const head = await start('head', database);
  const single = await start('member', {});
  const svc = (server: ChildServer, name: string, ...args: string[]) =>
    runCli(args, { env: { SVC_LISTEN: new URL(server.url).host, SVC_DATA_DIR: join(folder, name, 'data') } });
  let member = single;
  let root = '';
  const ask = (server: ChildServer, path: string, body?: object, key = root, headers: Record<string, string> = {}) =>
    send(server.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      ...(body !== undefined && { body }),
      headers: { ...(key !== '' && { authorization: `Bearer ${key}` }), ...headers },
    });

  await t.test('a machine joins before there is an account, while it runs', async (t) => {
    const tokens = '/api/v1/cluster/join-tokens';
    t.equal((await ask(head, tokens, {}, '', { via: '1.1 proxy' })).status, 401, 'a token is made on the machine itself');
    const made = await svc(head, 'head', 'node', 'token', '--json');
    const { token } = made.json() as { token: string };
    t.match(await svc(single, 'member', 'node', 'join', token), { code: 0, stdout: /^joined the cluster of 127\.0\.0\.1:/ });
    await until(() => !single.running);
    member = await start('member', {});
    const authOf = async ({ url }: ChildServer) => (await send(`${url}/health`)).json?.['auth'];
    for (const server of [head, member]) await until(async () => (await authOf(server)) === 'enforce');
    t.equal((await ask(head, '/api/v1/cluster/topology', undefined, '')).status, 401);
    const again = await svc(member, 'member', 'node', 'join', token);
    t.match(again.stderr, /belongs to a cluster already/, 'it says so itself: its controller would join in its place');
  });

  await t.test('the first account of the cluster is made by a controller, also for a client of the member', async (t) => {
    const register = (headers: Record<string, string>) => ask(member, '/api/v1/auth/register', account, '', headers);
    t.match(await register({}), { status: 401, json: { error: 'setup_code_needed' } });
    const [, code = ''] = /"setup_code":"(\w+)"/.exec(head.log) ?? [];
    const registered = await register({ 'x-svc-setup-code': code });
    t.equal(registered.status, 201, registered.text);
    root = String(registered.json?.['token']);
    for (const server of [head, member]) t.match((await ask(server, '/api/v1/auth/whoami')).text, /superadmin/);
  });

  const newKey = async (): Promise<string> => String((await ask(head, '/api/v1/identity/keys', { name: 'k' })).json?.['api_key']);
  // The member asks no node without a link.
  const brief = await start('brief', { ...database, SVC_CLUSTER_LISTEN: '', SVC_CLUSTER_WAIT_SECONDS: '1' });
  await ask(brief, '/api/v1/auth/whoami');

  await t.test('requests wait for it, streams go on, and nothing is done twice', async (t) => {
    const [known, one, two, three, writer] = await Promise.all([newKey(), newKey(), newKey(), newKey(), newKey()]);
    for (const server of [head, member]) t.equal((await ask(server, '/api/v1/auth/whoami', undefined, known)).status, 200);
    const open = () =>
      fetch(`${member.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${writer}` },
        body: JSON.stringify({
          model: chatModel,
          messages: [{ role: 'user', content: 'tell me' }],
          max_tokens: STREAM_TOKENS,
          ignore_eos: true,
          stream: true,
          stream_options: { include_usage: true },
        }),
      });
    const streams = await Promise.all(Array.from({ length: N_STREAMS }, open));
    t.ok(streams.every(({ status }) => status === 200));
    let nOver = 0;
    const texts = streams.map((stream) => stream.text().finally(() => (nOver += 1)));
    await postgres.stopServer('immediate');
    const stoppedAt = performance.now();
    const nBefore = nOver;
    t.ok(nBefore < N_STREAMS, 'streams are under way');
    let nAnswered = 0;
    const waiting = (answer: Promise<HttpAnswer>) => answer.finally(() => (nAnswered += 1));
    const login = { username: account.username, password: account.password };
    const asked = [head, member].flatMap((server, i) => [
      waiting(ask(server, '/api/v1/users/me/conversations', undefined, known)),
      waiting(ask(server, '/api/v1/auth/whoami', undefined, i === 0 ? one : two)),
      waiting(ask(server, '/api/v1/edge/conversations', { title: `of ${i}` })),
      waiting(ask(server, '/api/v1/auth/login', login, '')),
    ]);
    // The member answers this one itself, and has its controller judge the key.
    const own = waiting(ask(member, '/api/v1/system/roles', undefined, three));
    for (const refused of [ask(brief, '/api/v1/users/me/conversations'), ask(brief, '/api/v1/edge/conversations', {})]) {
      const { status, json, headers } = await refused;
      t.equal(status, 503);
      t.match(json?.['error'], /^(storage_unavailable|credential_check_unavailable)$/);
      t.ok(headers.get('retry-after'));
    }
    await until(() => performance.now() - stoppedAt > AWAY_MS);
    t.equal(nAnswered, 0, 'nobody is answered while it is away');
    t.ok(nOver < N_STREAMS);
    await postgres.startServer();
    const answers = await Promise.all([...asked, own]);
    t.strictSame(
      answers.map(({ status }) => status),
      [200, 200, 201, 200, 200, 200, 201, 200, 200],
      JSON.stringify(answers.map(({ text }) => text.slice(0, 200))),
    );
    const { json } = await ask(head, '/api/v1/edge/conversations?limit=100');
    const { data: made = [] } = (json ?? {}) as { data?: { title: string }[] };
    t.strictSame(made.map(({ title }) => title).toSorted(), ['of 0', 'of 1']);
    const ends = (await Promise.all(texts)).map((text) => text.slice(-2_000));
    t.ok(
      ends.every((end) => end.endsWith('data: [DONE]\n\n')),
      ends.map((end) => end.slice(-200)).join('\n'),
    );
    const used = ends.reduce((sum, end) => sum + Number(/"completion_tokens":(\d+)/.exec(end)?.[1]), 0);
    const whoami = (await ask(head, '/api/v1/auth/whoami', undefined, writer)).text;
    const { json: usage } = await ask(head, '/api/v1/metering/usage?by=key&limit=100');
    const rows = (usage?.['data'] as { id: string; requests: number; completion_tokens: number }[]) ?? [];
    t.match(
      rows.filter(({ id }) => whoami.includes(id)),
      [{ requests: N_STREAMS, completion_tokens: used }],
    );
  });
});
