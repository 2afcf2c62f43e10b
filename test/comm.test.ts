/** Messages and calls of a real node at the command line: accounts from the docs, messages that nobody knows of, calls when the node stops. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { telephone } from '../ts/server/domains/comm/calls/test-support/telephone.ts';
import { mailServer, provider } from '../ts/server/domains/comm/test-support/comm-bed.ts';
import { newFolder } from '../ts/server/platform/files/test-support/new-folder.ts';
import { until } from '../ts/server/platform/jobs/test-support/open-jobs.ts';
import { post, sendJson } from './http.ts';
import { startServer } from './server.ts';

// A server and a few commands are started.
t.setTimeout(180_000);

const [mailAccount = '', hookAccount = ''] = [
  ...readFileSync('docs/use/messages.md', 'utf8').matchAll(/```json\n([\s\S]*?)```/g),
].map(([, block]) => block);

t.test('accounts of the docs send, are tested, switched off and removed; a message is sent again by hand alone', async (t) => {
  const folder = newFolder(t);
  const file = (name: string, account: object): string => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(account));
    return path;
  };
  const mail = await mailServer(t);
  const receiver = await provider(t);
  const hosts = `127.0.0.1:${mail.port},http://127.0.0.1`;
  const { url } = await startServer(t, { models: {}, env: { SVC_COMM_ALLOWED_HOSTS: hosts } });
  const { token } = await sendJson<{ token: string }>(url, '/api/v1/auth/register', {
    username: 'root',
    password: 'a lighthouse keeper',
  });
  const svc = (args: string[], input?: string) =>
    runCli([...args, '--url', url], { env: { SVC_API_KEY: token }, ...(input !== undefined && { input }) });
  const idIn = (text: string): string => /(?:acc|msg)_[\w-]+/.exec(text)?.[0] ?? '';
  const ended = (id: string) =>
    until(
      () => svc(['comm', 'show', id]),
      ({ stdout }) => /is (?:sent|failed|outcome_unknown)/.test(stdout),
    );

  const documented = JSON.parse(mailAccount);
  t.match(
    await svc(['comm', 'add', file('a.json', { ...documented, enabled: true })], ''),
    { code: 1 },
    'no member is read over',
  );
  const settings = { host: '127.0.0.1', port: mail.port, from: 'svc@example.org', tls: 'none' };
  const account = idIn((await svc(['comm', 'add', file('b.json', { ...documented, settings })])).stdout);
  const hook = { ...JSON.parse(hookAccount), settings: { url: `${receiver.origin}/svc` } };
  const hookId = idIn((await svc(['comm', 'add', file('c.json', hook), '--key-stdin'], 'c2VjcmV0NDcxMQ==\n')).stdout);
  t.match((await svc(['comm', 'accounts'])).stdout, /Alerts +email +on +-[\s\S]*Ops +webhook +on +set/);

  const tested = await svc(['comm', 'test', account, 'ann@example.org']);
  t.match(await ended(idIn(tested.stdout)), { code: 0, stdout: /a\*\*\*@example\.org is sent/ });
  t.match(await svc(['comm', 'send', account, 'ann@elsewhere.org', 'Hello']), {
    code: 1,
    stderr: /may not send to that recipient/,
  });
  const sent = await svc(['comm', 'send', hookId, 'team-a', 'The backup is done', '--key', 'k1']);
  t.equal(idIn((await svc(['comm', 'send', hookId, 'team-a', 'The backup is done', '--key', 'k1'])).stdout), idIn(sent.stdout));
  t.match(await ended(idIn(sent.stdout)), { code: 0 });
  t.equal(receiver.accepted.length, 1);

  mail.says.set('END', 'drop');
  const lost = idIn((await svc(['comm', 'send', account, 'ann@example.org', 'Once', '--subject', 'Backup'])).stdout);
  t.match(await ended(lost), { code: 1, stdout: /is outcome_unknown: the connection ended/ });
  t.match(await svc(['comm', 'resend', lost]), { code: 0, stdout: /is queued/ });
  t.match(await ended(lost), { code: 0, stdout: /is sent/ });
  t.equal(mail.accepted.length, 3);

  t.match((await svc(['comm', 'messages', '--limit', '2'])).stdout, /msg_\S+ +a\*\*\*@example\.org +sent[\s\S]*msg_/);
  t.match(await svc(['call', 'list']), { code: 0, stdout: /no calls/ });

  t.match(await svc(['comm', 'disable', account]), { code: 0, stdout: /Alerts is off/ });
  t.match(await svc(['comm', 'send', account, 'ann@example.org', 'Hello']), { code: 6, stderr: /switched off/ });
  t.match(await svc(['comm', 'enable', account]), { code: 0 });
  t.match(await svc(['comm', 'rm', hookId]), { code: 0 });
  t.strictSame((await post(`${url}/api/v1/comm/search`, {}, { authorization: `Bearer ${token}` })).json, {
    results: [],
    count: 0,
    _stub: true,
  });
  const metrics = await (await fetch(`${url}/metrics`)).text();
  t.match(metrics, /svc_comm_messages_total\{channel="email",state="sent"\} 2/);
  t.notMatch((await svc(['audit', '--json'])).stdout, /4711|The backup is done/);
});

t.test('a node that gets SIGTERM hangs up calls that ring and calls that talk', async (t) => {
  const folder = t.testdir();
  const other = await telephone(t);
  const server = await startServer(t, { folder, models: {}, env: { SVC_COMM_ALLOWED_HOSTS: 'http://127.0.0.1' } });
  const account = {
    kind: 'sip',
    name: 'Telephone',
    settings: { registrar: `127.0.0.1:${other.port}`, user: 'svc', domain: 'example.org', transport: 'udp' },
    key: 'secret',
    allowed_recipients: ['*'],
  };
  const { id: account_id } = await sendJson<{ id: string }>(server.url, '/api/v1/comm/accounts', account);
  const start = async (): Promise<string> => {
    // It talks until a key is pressed.
    const call = { account_id, to: '200', digits: { max: 1, timeout_seconds: 60 } };
    return (await sendJson<{ call_id: string }>(server.url, '/api/v1/comm/calls/start', call)).call_id;
  };
  const becomes = (id: string, state: string) =>
    until(
      async () => (await (await fetch(`${server.url}/api/v1/comm/calls/${id}`)).json()) as { state: string },
      (call) => call.state === state,
    );
  const talks = await start();
  other.answer(await other.next('INVITE'), '200 OK', { body: other.sdp, tag: 'one' });
  await becomes(talks, 'talking');
  const rings = await start();
  const invite = await other.next('INVITE');
  other.answer(invite, '180 Ringing', { tag: 'two' });
  await becomes(rings, 'ringing');
  const exit = server.stop('SIGTERM');
  const ended = Promise.all([
    other.next('BYE').then((bye) => other.answer(bye, '200 OK')),
    other.next('CANCEL').then((cancel) => {
      other.answer(cancel, '200 OK', { tag: 'two' });
      other.answer(invite, '487 Request Terminated', { tag: 'two' });
    }),
  ]);
  await ended;
  await other.next('ACK');
  t.strictSame(await exit, { code: 0, signal: null });
  const database = new Database(join(folder, 'data', 'svc.db'), { readonly: true });
  t.teardown(() => database.close());
  t.strictSame(database.prepare('SELECT id, state, sip_status FROM comm_calls ORDER BY id').all(), [
    { id: talks, state: 'cancelled', sip_status: 200 },
    { id: rings, state: 'cancelled', sip_status: 487 },
  ]);
});
