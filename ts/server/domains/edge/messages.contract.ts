/** Messages by route, tool and model on both databases, against providers that fail: none is accepted twice, and none is without an end. */
import type { Test } from 'tap';
import type { Principal } from '../../platform/http/principal.ts';
import { until } from '../../platform/jobs/test-support/open-jobs.ts';
import { systemScope } from '../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { admin, callerOf, developer, type Fault, mailServer, provider } from '../comm/test-support/comm-bed.ts';
import { edge } from './index.ts';
import { openMessageBed } from './test-support/message-bed.ts';

const viewer = callerOf('usr_vic', 'viewer');
const other = callerOf('usr_two', 'developer');
const stranger = callerOf('usr_eve', 'admin', { tenant: 'blue' });
const SECRET = 'planted-secret-4711';
const ENDS = ['sent', 'failed', 'outcome_unknown'];

async function openMessages(t: Test, newDatabase: NewDatabase, settings: Readonly<Record<string, unknown>> = {}) {
  const bed = await openMessageBed(t, { databaseUrl: await newUrl(t, newDatabase), settings });
  const post = (body: object, as: Principal = developer) =>
    bed.ask('POST', '/api/v1/comm/messages', as, { text: 'The text 0815.', ...body });
  const ended = (id: string) =>
    until(
      () => bed.message(id),
      ({ state }: { id: string; state: string }) => ENDS.includes(state),
    );
  const send = async (body: object, as: Principal = developer) => {
    const { status, body: answer, text } = await post(body, as);
    if (status !== 202) throw new Error(`${status} ${text}`);
    return await ended(answer.message_id);
  };
  const asModel = (given: object) =>
    bed.module(edge).api.executor.execute({
      tool: 'comm.send',
      arguments: given,
      source: { caller: developer, remoteAddress: '', requestId: '' },
      isDirect: false,
      isTainted: false,
      run: 'run_1',
      signal: new AbortController().signal,
    });
  return { ...bed, post, send, ended, asModel };
}

function testMessages(t: Test, newDatabase: NewDatabase): void {
  t.test('each kind of account sends in its provider’s form, and its key is shown nowhere', async (t) => {
    const server = await provider(t);
    const mail = await mailServer(t);
    const bed = await openMessages(t, newDatabase);
    const url = server.origin;
    const kinds: [string, object, string | undefined, string, RegExp][] = [
      ['matrix', { homeserver: url, user_id: '@svc:example.org' }, SECRET, '!abc:example.org', /send\/m\.room\.message\/msg_/],
      ['telegram', { chat_ids: ['42'], url }, SECRET, '42', /sendMessage/],
      ['slack', {}, `${url}/hook/${SECRET}`, '', /hook/],
      ['teams', {}, `${url}/teams/${SECRET}`, '', /teams/],
      ['sms', { url: `${url}/sms`, form: { number: '{to}', message: '{text}', token: '{key}' } }, SECRET, '+491701234567', /sms/],
      ['webhook', { url: `${url}/webhook` }, Buffer.from(SECRET).toString('base64'), 'anyone', /webhook/],
    ];
    for (const [kind, settings, key, to, path] of kinds) {
      const id = await bed.add({ kind, name: kind, settings, key });
      t.match(await bed.send({ account_id: id, to }), { state: 'sent', reason: null }, kind);
      const got = server.accepted.at(-1);
      t.match(got?.path, path, kind);
      t.match(decodeURIComponent(got?.body ?? '').replaceAll('+', ' '), 'The text 0815.', kind);
    }
    const id = await bed.add({
      kind: 'email',
      name: 'email',
      settings: { host: '127.0.0.1', port: mail.port, from: 'svc@example.org', tls: 'none' },
    });
    t.match(await bed.send({ account_id: id, to: 'ann@example.org', subject: 'Hello' }), {
      state: 'sent',
      to: 'a***@example.org',
    });
    t.match(mail.accepted[0], /Message-ID: <msg_[\s\S]*The text 0815\./);
    const rows = await bed.storage
      .access<{ comm_accounts: object; comm_messages: { sealed_body: string | null } }>()
      .read(systemScope(), async (db) => [
        await db.selectFrom('comm_accounts').selectAll().execute(),
        await db.selectFrom('comm_messages').selectAll().execute(),
      ]);
    const listed = (await bed.ask('GET', '/api/v1/comm/accounts', viewer)).text;
    for (const text of [JSON.stringify(rows), listed, bed.log.join(), JSON.stringify(bed.acts)]) t.notMatch(text, /4711|0815/);
    t.match(JSON.parse(listed).data, [{ can: { calls: false } }, {}, {}, {}, {}, {}, {}]);
  });

  t.test('whatever a provider does, no message is accepted twice where that cannot be known, and each has an end', async (t) => {
    const server = await provider(t);
    const bed = await openMessages(t, newDatabase);
    const once = await bed.add({ kind: 'sms', name: 'sms', settings: { url: server.origin, form: { t: '{text}' } } });
    const cases: [Fault, string, number][] = [
      ['none', 'sent', 1],
      ['cut-before', 'outcome_unknown', 0],
      ['cut-after', 'outcome_unknown', 1],
      ['silent', 'outcome_unknown', 1],
      ['broken', 'outcome_unknown', 0],
      ['refuse', 'failed', 0],
      ['busy', 'sent', 1],
    ];
    for (const [fault, state, n] of cases) {
      server.faults.push(fault);
      const text = `once ${fault}`;
      t.match(await bed.send({ account_id: once, to: '+491701234567', text }), { state }, fault);
      const got = server.accepted.filter(({ body }) => body.includes(new URLSearchParams({ t: text }).toString())).length;
      t.equal(got, n, `${fault} was accepted ${got} times`);
    }
    const known = await bed.add({ kind: 'webhook', name: 'hook', settings: { url: server.origin }, key: 'c2VjcmV0' });
    server.faults.push('cut-after', 'broken', 'busy');
    const { id } = await bed.send({ account_id: known, to: '' });
    const ids = server.accepted.filter(({ headers }) => headers['webhook-id'] === id);
    t.ok(ids.length >= 1, 'it was tried until it was taken, under one id');
  });

  t.test('mail that the server may have is not sent again but by a person', async (t) => {
    const mail = await mailServer(t);
    const bed = await openMessages(t, newDatabase);
    const account_id = await bed.add({
      kind: 'email',
      name: 'mail',
      settings: { host: '127.0.0.1', port: mail.port, from: 'svc@example.org', tls: 'none' },
    });
    const to = 'ann@example.org';
    mail.says.set('RCPT', '450 try later');
    t.match(await bed.send({ account_id, to }), { state: 'sent' }, 'a refusal for now is tried again');
    mail.says.set('END', '554 no');
    t.match(await bed.send({ account_id, to }), { state: 'failed', reason: 'the mail server answered 554' });
    mail.says.set('END', 'drop');
    const unknown = await bed.send({ account_id, to });
    t.match(unknown, { state: 'outcome_unknown' });
    t.equal(mail.accepted.length, 2);
    t.equal((await bed.ask('POST', `/api/v1/comm/messages/${unknown.id}/resend`, other)).status, 404);
    t.equal((await bed.ask('POST', `/api/v1/comm/messages/${unknown.id}/resend`, developer)).status, 202);
    t.match(await bed.ended(unknown.id), { state: 'sent' });
    t.equal(mail.accepted.length, 3);
    t.match(await bed.ask('POST', `/api/v1/comm/messages/${unknown.id}/resend`, developer), {
      status: 409,
      body: { error: 'message_not_resendable' },
    });
  });

  t.test('files go out with mail: those of the caller, and on no other channel', async (t) => {
    const mail = await mailServer(t);
    const server = await provider(t);
    const bed = await openMessages(t, newDatabase);
    const settings = { host: '127.0.0.1', port: mail.port, from: 'svc@example.org', tls: 'none' };
    const account_id = await bed.add({ kind: 'email', name: 'mail', settings });
    const hook = await bed.add({ kind: 'webhook', name: 'hook', settings: { url: server.origin }, key: 'c2VjcmV0' });
    bed.store('file-1', 'usr_dev', 'The third lighthouse.');
    bed.store('file-2', 'usr_two', 'Of another one.');
    const to = 'ann@example.org';
    t.match(await bed.send({ account_id, to, file_ids: ['file-1'] }), { state: 'sent' });
    t.match(mail.accepted[0], /filename=file-1\.txt/);
    t.match(mail.accepted[0], Buffer.from('The third lighthouse.').toString('base64'));
    for (const given of [
      { account_id, to, file_ids: ['file-2'] },
      { account_id, to, file_ids: ['none'] },
      { account_id: hook, to, file_ids: ['file-1'] },
    ])
      t.match(await bed.post(given), { status: 400, body: { error: 'attachment_refused' } });
    t.match((await bed.ask('GET', '/api/v1/comm/accounts', viewer)).body.data, [
      { can: { attachments: false } },
      { can: { attachments: true } },
    ]);
  });

  t.test('recipients, limits, keys of repetition, tenants and roles are held to', async (t) => {
    const server = await provider(t);
    const bed = await openMessages(t, newDatabase);
    const hook = { kind: 'webhook', settings: { url: server.origin }, key: 'c2VjcmV0' };
    const account_id = await bed.add({ ...hook, name: 'A', allowed_recipients: ['team-*'], limits: { per_day: 3 } });
    t.match(await bed.post({ account_id, to: 'boss' }), { status: 400, body: { error: 'recipient_not_allowed' } });
    t.equal((await bed.post({ account_id, to: 'team-a' }, viewer)).status, 403);
    t.match(await bed.post({ account_id, to: 'team-a' }, stranger), { status: 404, body: { error: 'account_not_found' } });
    const first = await bed.post({ account_id, to: 'team-a', idempotency_key: 'k' });
    t.equal((await bed.post({ account_id, to: 'team-a', idempotency_key: 'k' })).body.message_id, first.body.message_id);
    t.match(await bed.post({ account_id, to: 'team-b', idempotency_key: 'k' }), {
      status: 409,
      body: { error: 'idempotency_key_reused' },
    });
    const own = (await bed.post({ account_id, to: 'team-a', idempotency_key: 'k' }, other)).body.message_id;
    t.not(own, first.body.message_id, 'keys are those of an owner');
    t.equal((await bed.ask('GET', `/api/v1/comm/messages/${own}`, developer)).status, 404);
    t.equal((await bed.ask('GET', `/api/v1/comm/messages/${own}`, admin)).status, 200);
    t.equal((await bed.ask('GET', `/api/v1/comm/messages/${own}`, stranger)).status, 404);
    await bed.post({ account_id, to: 'team-a' });
    t.match(await bed.post({ account_id, to: 'team-a' }), { status: 429, body: { error: 'send_limit_exceeded' } });
    await bed.ask('PATCH', `/api/v1/comm/accounts/${account_id}`, admin, { enabled: false });
    t.equal((await bed.post({ account_id, to: 'team-a' })).status, 404, 'no account is on, so there is no such tool');
    for (const [account, error] of [
      [{ ...hook, name: 'A' }, 'account_exists'],
      [{ ...hook, name: 'B', settings: { url: 'http://10.1.2.3' } }, 'unsafe_address'],
      [{ ...hook, name: 'B', settings: {} }, 'invalid_request'],
      [{ ...hook, name: 'B', key: undefined }, 'invalid_request'],
    ] as const)
      t.match((await bed.ask('POST', '/api/v1/comm/accounts', admin, account)).body, { error });
    t.match(
      await bed.ask('PATCH', `/api/v1/comm/accounts/${account_id}`, admin, { settings: { url: 'https://elsewhere.example' } }),
      {
        status: 400,
        body: { error: 'invalid_request' },
      },
    );
    t.strictSame((await bed.ask('POST', '/api/v1/comm/search', viewer)).body, { results: [], count: 0, _stub: true });
  });

  t.test('a model’s message waits for approval where the account does not let models send', async (t) => {
    const server = await provider(t);
    const bed = await openMessages(t, newDatabase);
    const account_id = await bed.add({ kind: 'webhook', name: 'A', settings: { url: server.origin }, key: 'c2VjcmV0' });
    await bed.ask('PUT', '/api/v1/tools/policies', admin, {
      rules: [{ tools: ['comm.*'], decision: 'allow' }],
      timeout_seconds: 60,
      taint_exempt: [],
    });
    const given = { account_id, to: 'x', text: 'From a model.' };
    const asked = await bed.asModel(given).catch((error) => error);
    t.match(asked, { code: 'approval_required', extra: { asked_by: 'own' } });
    t.equal(server.accepted.length, 0);
    await bed.ask('PATCH', `/api/v1/comm/accounts/${account_id}`, admin, { model_may_send: true });
    const sent = await bed.asModel(given);
    t.match(sent, { isDone: true });
    t.match(await bed.ended((sent.result as { id: string }).id), { state: 'sent' });
  });

  t.test('what a crash left is ended or goes on, and never twice', async (t) => {
    const server = await provider(t);
    const bed = await openMessages(t, newDatabase);
    const account_id = await bed.add({ kind: 'sms', name: 'sms', settings: { url: server.origin, form: { t: '{text}' } } });
    const { id } = await bed.send({ account_id, to: '+491701234567' });
    const access = bed.storage.access<{ comm_messages: { id: string; state: string; job: string | null; updated_at: number } }>();
    // As a kill leaves it: the step was begun, and the job is over.
    await access.writeUnit(systemScope(), (db) => [
      db.updateTable('comm_messages').set({ state: 'sending', updated_at: 1 }).where('id', '=', id),
    ]);
    t.match(await bed.ended(id), { state: 'outcome_unknown', reason: 'the node stopped before the provider answered' });
    t.equal(server.accepted.length, 1);
  });
}

onEachDatabase(testMessages, { timeoutMs: 120_000 });
