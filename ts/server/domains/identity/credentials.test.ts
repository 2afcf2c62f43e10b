import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Storage, systemScope } from '../../platform/storage/index.ts';
import { newApiKey } from './credentials/api-key.ts';
import { newToken } from './secrets/secret-token.ts';
import type { IdentityTables } from './tables.ts';
import { type IdentityBed, openIdentity, ROOT_PASSWORD } from './test-support/identity-bed.ts';
import { movableClock } from './test-support/movable-clock.ts';

const chat = (bed: IdentityBed, as: string) => bed.ask('POST', '/v1/chat/completions', { as });

async function makeKey(bed: IdentityBed, as: string, body: object = {}): Promise<{ id: string; api_key: string }> {
  const made = await bed.ask('POST', '/api/v1/identity/keys', { as, body: { name: 'test', ...body } });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body as { id: string; api_key: string };
}

t.test('a key works until it is revoked, and no longer', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const key = await makeKey(bed, root);
  t.match(await chat(bed, key.api_key), { status: 200, body: { caller: { kind: 'key', keyId: key.id, roles: ['superadmin'] } } });
  const bearer = { authorization: `Bearer ${key.api_key}` };
  t.equal((await bed.ask('GET', '/api/v1/policy/viewer', { headers: bearer })).status, 200);
  t.equal((await bed.ask('DELETE', `/api/v1/identity/keys/${key.id}`, { as: root })).status, 204);
  t.match(await bed.ask('GET', '/api/v1/policy/viewer', { as: key.api_key }), {
    status: 401,
    body: { error: 'invalid_credential', reason: 'api_key_revoked' },
  });
  t.match(await chat(bed, key.api_key), { status: 401, body: { error: 'invalid_api_key', reason: 'api_key_revoked' } });
  t.match(await bed.ask('DELETE', `/api/v1/identity/keys/${key.id}`, { as: root }), { status: 404 });
});

t.test('the database holds hashes, and no secret of any kind', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const { api_key } = await makeKey(bed, root);
  const userId = (await bed.ask('GET', '/api/v1/auth/whoami', { as: root })).body.user.id;
  const reset = (await bed.ask('POST', `/api/v1/identity/users/${userId}/password-reset`, { as: root })).body.token;
  const tables = [
    'identity_users',
    'identity_api_keys',
    'identity_sessions',
    'identity_password_resets',
    'identity_audit',
  ] as const;
  const access = bed.storage.access<IdentityTables>();
  for (const table of tables) {
    const rows = await access.read(systemScope(), (db) => db.selectFrom(table).selectAll().execute());
    const text = JSON.stringify(rows);
    t.ok(rows.length > 0, table);
    for (const secret of [api_key, root, reset, ROOT_PASSWORD]) t.notOk(text.includes(secret), `${table} holds no secret`);
  }
  const users = await access.read(systemScope(), (db) => db.selectFrom('identity_users').select('password_hash').execute());
  t.match(users[0]?.password_hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  t.notOk(JSON.stringify(bed.lines()).includes(api_key));
});

t.test('the reasons of refused credentials', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const expiring = await makeKey(bed, root, { expires_in_seconds: 1 });
  const cases: [what: string, headers: Record<string, string>, reason: string][] = [
    ['a key that was never issued', { 'x-api-key': newApiKey() }, 'api_key_unknown'],
    ['a key that is cut off', { 'x-api-key': expiring.api_key.slice(0, -1) }, 'api_key_unknown'],
    ['an empty key', { 'x-api-key': '' }, 'api_key_unknown'],
    ['a key of another service', { 'x-api-key': 'sk-1234' }, 'api_key_unknown'],
    ['a key of another service as a token', { authorization: 'Bearer sk-1234' }, 'bad_encoding'],
    ['a session that was never opened', { authorization: `Bearer ${newToken('svcs_')}` }, 'expired'],
    ['a session as a key', { 'x-api-key': root }, 'api_key_unknown'],
    ['a token of another machine', { authorization: `Bearer ${newToken('svcl_')}` }, 'expired'],
    ['a wrong key beside a good token', { 'x-api-key': newApiKey(), authorization: `Bearer ${root}` }, 'api_key_unknown'],
  ];
  for (const [what, headers, reason] of cases) {
    const native = await bed.ask('GET', '/api/v1/nothing', { headers });
    t.match(native, { status: 401, body: { error: 'invalid_credential', reason } }, what);
    t.equal(native.headers.get('www-authenticate'), 'Bearer');
    const foreign = await bed.ask('POST', '/v1/chat/completions', { headers });
    t.match(foreign, { status: 401, body: { error: 'invalid_api_key' } }, what);
    t.equal(foreign.headers.get('www-authenticate'), 'Bearer');
  }
  const none = await bed.ask('GET', '/api/v1/policy/viewer');
  t.match(none, { status: 401, body: { error: 'authentication_required' } });
  t.equal(none.headers.get('www-authenticate'), 'Bearer');
  const deadline = Date.now() + 10_000;
  let answer = await chat(bed, expiring.api_key);
  while (answer.status === 200 && Date.now() < deadline) answer = await chat(bed, expiring.api_key);
  t.match(answer, { status: 401, body: { reason: 'expired' } }, 'a key that expires while it is in use');
});

t.test('rotation replaces the key in use, the named one, or the only one', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const rotate = (as: string, query = '') => bed.ask('POST', `/api/v1/users/me/api-key${query}`, { as });
  const first = (await rotate(root)).body.api_key as string;
  t.equal((await chat(bed, first)).status, 200, 'an account without a key gets its first');
  const second = (await rotate(root)).body.api_key as string;
  t.match(await chat(bed, first), { status: 401, body: { reason: 'api_key_revoked' } });
  const other = await makeKey(bed, root, { name: 'ci', scopes: ['chat:use'], expires_in_seconds: 1000 });
  t.match(await rotate(root), { status: 409, body: { error: 'several_keys' } });
  const third = await rotate(second);
  t.equal(third.status, 200);
  t.equal((await chat(bed, second)).status, 401);
  t.equal((await chat(bed, other.api_key)).status, 200, 'the other key goes on');
  const ci = await rotate(root, `?key_id=${other.id}`);
  t.match(ci, { status: 200, body: { name: 'ci', scopes: ['chat:use'], expires_at: /Z$/ } });
  t.equal((await chat(bed, other.api_key)).status, 401);
  t.match(await rotate(ci.body.api_key), { status: 200, body: { scopes: ['chat:use'] } }, 'a limited key replaces itself');
  t.match(await rotate(root, '?key_id=key_none'), { status: 404, body: { error: 'key_not_found' } });
  const { body: bob } = await bed.ask('POST', '/api/v1/identity/users', { as: root, body: { username: 'bob', role: 'viewer' } });
  const ofBob = () => bed.ask('POST', `/api/v1/identity/users/${bob.id}/api-key`, { as: root });
  const bobs = (await ofBob()).body.api_key as string;
  t.match(await chat(bed, bobs), { status: 200, body: { caller: { subject: bob.id, roles: ['viewer'] } } });
  t.equal((await ofBob()).status, 200);
  t.match(await chat(bed, bobs), { status: 401, body: { reason: 'api_key_revoked' } });
});

t.test('a limited key does what its scopes say, and passes no more on', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const whole = await makeKey(bed, root);
  const chatOnly = await makeKey(bed, root, { scopes: ['chat:use'] });
  const account = await makeKey(bed, root, { scopes: ['account:manage', 'chat:use'] });
  t.equal((await chat(bed, chatOnly.api_key)).status, 200);
  t.match(await bed.ask('GET', '/api/v1/auth/whoami', { as: chatOnly.api_key }), {
    body: { kind: 'api_key', scopes: ['chat:use'], key_id: chatOnly.id },
  });
  const refused = [
    ['GET', '/api/v1/policy/admin'],
    ['GET', '/api/v1/identity/users'],
    ['GET', '/api/v1/security/audit'],
    ['GET', '/api/v1/users/me/settings'],
    ['POST', '/api/v1/identity/keys'],
  ] as const;
  for (const [method, path] of refused) {
    t.match(await bed.ask(method, path, { as: chatOnly.api_key }), { status: 403, body: { error: 'insufficient_scope' } }, path);
  }
  const embedOnly = await makeKey(bed, root, { scopes: ['embeddings:use'] });
  t.match(await chat(bed, embedOnly.api_key), { status: 403, body: { error: 'insufficient_scope', scope: 'chat:use' } });
  const beyond = await bed.ask('POST', '/api/v1/identity/keys', { as: account.api_key, body: { name: 'x', scopes: ['admin'] } });
  t.match(beyond, { status: 403, body: { error: 'scope_beyond_caller' } });
  const heir = await makeKey(bed, account.api_key);
  t.strictSame((await bed.ask('GET', '/api/v1/auth/whoami', { as: heir.api_key })).body.scopes, ['chat:use', 'account:manage']);
  const theft = await bed.ask('POST', `/api/v1/users/me/api-key?key_id=${whole.id}`, { as: account.api_key });
  t.match(theft, { status: 403, body: { error: 'scope_beyond_caller' } });
  t.equal((await chat(bed, whole.api_key)).status, 200, 'what was refused changed nothing');
});

t.test('nobody sees or revokes the keys of others, except administrators of the tenant', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const rootKey = await makeKey(bed, root);
  const { body: bob } = await bed.ask('POST', '/api/v1/identity/users', {
    as: root,
    body: { username: 'bob', role: 'developer' },
  });
  const bobs = (await bed.ask('POST', `/api/v1/identity/users/${bob.id}/api-key`, { as: root })).body.api_key as string;
  const rootId = (await bed.ask('GET', '/api/v1/auth/whoami', { as: root })).body.user.id as string;
  t.match(await bed.ask('GET', `/api/v1/identity/keys?user=${rootId}`, { as: bobs }), {
    status: 404,
    body: { error: 'user_not_found' },
  });
  for (const id of [rootKey.id, 'key_none']) {
    t.match(await bed.ask('DELETE', `/api/v1/identity/keys/${id}`, { as: bobs }), {
      status: 404,
      body: { error: 'key_not_found' },
    });
  }
  t.match(await bed.ask('POST', '/api/v1/identity/keys', { as: bobs, body: { name: 'x', user: rootId } }), { status: 404 });
  const own = await bed.ask('GET', '/api/v1/identity/keys', { as: bobs });
  t.equal(own.body.data.length, 1);
  t.match(own.body.data[0], { start: bobs.slice(0, 10), user: bob.id, scopes: null, expires_at: null });
  const seen = await bed.ask('GET', `/api/v1/identity/keys?user=${bob.id}`, { as: root });
  t.equal((await bed.ask('DELETE', `/api/v1/identity/keys/${seen.body.data[0].id}`, { as: root })).status, 204);
  t.equal((await chat(bed, bobs)).status, 401);
});

t.test('administrators read what the keys of their tenant are called, also revoked ones, page by page', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'red' } });
  const keyOf = async (body: object) => {
    const { body: user } = await bed.ask('POST', '/api/v1/identity/users', { as: root, body });
    const { body: key } = await bed.ask('POST', '/api/v1/identity/keys', { as: root, body: { name: 'script', user: user.id } });
    return { user: user.id as string, id: key.id as string, text: key.api_key as string };
  };
  const admin = await keyOf({ username: 'red-admin', role: 'admin', tenant: 'red' });
  const bob = await keyOf({ username: 'bob', role: 'developer', tenant: 'red' });
  const other = await keyOf({ username: 'carl', role: 'viewer' });
  await bed.ask('DELETE', `/api/v1/identity/keys/${bob.id}`, { as: root });
  const path = '/api/v1/identity/key-names';
  const names = async (as: string, query = '') => (await bed.ask('GET', `${path}${query}`, { as })).body;
  const { data } = await names(admin.text);
  const expected = [
    { id: admin.id, name: 'script', user: admin.user, tenant: 'red', revoked: false },
    { id: bob.id, name: 'script', user: bob.user, tenant: 'red', revoked: true },
  ];
  t.strictSame(
    data,
    expected.sort((a, b) => (a.id < b.id ? -1 : 1)),
  );
  const all = (await names(root)).data.map(({ id }: { id: string }) => id);
  t.strictSame(
    [admin.id, bob.id, other.id].filter((id) => !all.includes(id)),
    [],
    'a superadmin reads all',
  );
  const first = await names(root, '?limit=1');
  t.equal((await names(root, `?limit=1&after=${first.next}`)).data[0].id, all[1]);
  t.match(await bed.ask('GET', path, { as: other.text }), { status: 403 });
});

t.test('a deleted or disabled account has no credential that works', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  for (const end of ['disable', 'delete'] as const) {
    const body = { username: end, role: 'viewer', password: ROOT_PASSWORD };
    const { body: user } = await bed.ask('POST', '/api/v1/identity/users', { as: root, body });
    const login = () => bed.ask('POST', '/api/v1/auth/login', { body: { username: end, password: ROOT_PASSWORD } });
    const session = (await login()).body.token as string;
    const key = (await bed.ask('POST', '/api/v1/users/me/api-key', { as: session })).body.api_key as string;
    t.equal((await chat(bed, key)).status, 200);
    t.equal((await chat(bed, session)).status, 200);
    const path = `/api/v1/identity/users/${user.id}`;
    if (end === 'delete') t.equal((await bed.ask('DELETE', path, { as: root })).status, 204);
    else t.equal((await bed.ask('PATCH', path, { as: root, body: { disabled: true } })).status, 200);
    t.match(await chat(bed, key), { status: 401, body: { reason: 'api_key_revoked' } }, end);
    t.match(await chat(bed, session), { status: 401, body: { reason: 'expired' } }, end);
    t.match(await login(), end === 'delete' ? { status: 401 } : { status: 403, body: { error: 'account_disabled' } });
  }
});

t.test('a changed role holds for credentials in use', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const { body: user } = await bed.ask('POST', '/api/v1/identity/users', { as: root, body: { username: 'bob', role: 'admin' } });
  const key = (await bed.ask('POST', `/api/v1/identity/users/${user.id}/api-key`, { as: root })).body.api_key as string;
  t.equal((await bed.ask('GET', '/api/v1/policy/admin', { as: key })).status, 200);
  await bed.ask('PATCH', `/api/v1/identity/users/${user.id}`, { as: root, body: { role: 'viewer' } });
  t.match(await bed.ask('GET', '/api/v1/policy/admin', { as: key }), { status: 403, body: { error: 'forbidden' } });
});

t.test('a browser’s cookie is a session; an old one is none, and a page of another site cannot use it', async (t) => {
  const bed = await openIdentity(t);
  const token = await bed.makeRoot();
  const cookie = `svc_session=${token}`;
  t.match(await bed.ask('GET', '/api/v1/auth/whoami', { headers: { cookie } }), { status: 200, body: { kind: 'user' } });
  const stale = { cookie: `svc_session=${newToken('svcs_')}` };
  t.match(await bed.ask('GET', '/api/v1/policy/viewer', { headers: stale }), {
    status: 401,
    body: { error: 'authentication_required' },
  });
  t.equal((await bed.ask('GET', '/api/v1/policy/open', { headers: stale })).status, 200);
  const key = await makeKey(bed, token);
  t.equal((await bed.ask('GET', '/api/v1/policy/viewer', { headers: { cookie: `svc_session=${key.api_key}` } })).status, 401);
  const create = (headers: Record<string, string>) =>
    bed.ask('POST', '/api/v1/identity/keys', { headers: { cookie, ...headers }, body: { name: 'x' } });
  t.match(await create({ origin: 'https://evil.example' }), { status: 403, body: { error: 'origin_not_allowed' } });
  t.match(await create({ 'sec-fetch-site': 'cross-site' }), { status: 403 });
  t.equal((await create({ origin: bed.url })).status, 201);
});

t.test(
  'where the browser speaks TLS the cookie is bound to it and to the host, and elsewhere it is one that plain HTTP keeps',
  async (t) => {
    const bed = await openIdentity(t);
    await bed.makeRoot();
    const body = { username: 'root', password: ROOT_PASSWORD };
    const secure = /^__Host-svc_session=svcs_\S+; Secure; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/;
    const plain = /^svc_session=svcs_\S+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/;
    for (const [options, expected] of [
      [{ headers: { 'x-forwarded-proto': 'https' } }, secure],
      [{ isPublic: true }, plain],
      [{ headers: { 'x-svc-public-edge': '1' } }, plain],
    ] as const) {
      const { headers } = await bed.ask('POST', '/api/v1/auth/login', { body, ...options });
      t.match(headers.getSetCookie()[0], expected);
      t.equal(headers.get('cache-control'), 'no-store');
    }
  },
);

t.test('a session ends when it is idle, and after its longest life however much it is used', async (t) => {
  const moveClock = movableClock(t);
  const idle = await openIdentity(t, { settings: { 'identity.session_idle_seconds': 60 } });
  const token = await idle.makeRoot();
  const ask = (bed: IdentityBed, as: string) => bed.ask('GET', '/api/v1/auth/whoami', { as });
  for (let i = 0; i < 4; i += 1) {
    t.equal((await ask(idle, token)).status, 200, 'a session in use does not go idle');
    moveClock(40_000);
  }
  moveClock(21_000);
  t.match(await ask(idle, token), { status: 401, body: { reason: 'expired' } });
  const short = await openIdentity(t, { settings: { 'identity.session_max_seconds': 60 } });
  const brief = await short.makeRoot();
  for (let i = 0; i < 2; i += 1) {
    t.equal((await ask(short, brief)).status, 200);
    moveClock(25_000);
  }
  moveClock(11_000);
  t.match(await ask(short, brief), { status: 401, body: { reason: 'expired' } });
});

t.test('the token of the machine works on the machine itself only', async (t) => {
  const bed = await openIdentity(t);
  const path = join(bed.dataDir, 'local-admin.token');
  const token = readFileSync(path, 'utf8');
  t.equal(statSync(path).mode & 0o777, 0o600);
  await bed.makeRoot();
  t.equal((await bed.ask('GET', '/api/v1/policy/superadmin', { as: token })).status, 200);
  t.match(await bed.ask('GET', '/api/v1/policy/superadmin', { as: token, headers: { 'x-forwarded-for': '192.0.2.1' } }), {
    status: 401,
  });
  t.match(await bed.ask('GET', '/api/v1/policy/superadmin', { as: token, isPublic: true }), { status: 401 });
  t.match(await bed.ask('POST', '/api/v1/users/me/api-key', { as: token }), { status: 403, body: { error: 'no_account' } });
  const again = await bed.restart();
  t.match(await again.ask('GET', '/api/v1/policy/superadmin', { as: token }), { status: 401 }, 'each start makes another');
});

t.test('a known key is resolved at once and without the database; when it cannot be read, others are not judged', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const { api_key } = await makeKey(bed, root);
  const other = await makeKey(bed, root);
  t.equal((await chat(bed, api_key)).status, 200);
  await bed.storage.close();
  const source = {
    headers: new Map([['x-api-key', api_key]]),
    path: '/v1/chat/completions',
    remoteAddress: '192.0.2.1',
    listener: 'internal' as const,
  };
  const principal = bed.module.api.authenticator.authenticate(source);
  t.notOk(principal instanceof Promise);
  t.match(principal, { kind: 'key' });
  const unchecked = await chat(bed, other.api_key);
  t.match(unchecked, { status: 503, body: { error: 'credential_check_unavailable' } });
  t.match(await bed.ask('POST', '/api/v1/auth/login', { body: { username: 'root', password: ROOT_PASSWORD } }), {
    status: 503,
    body: { error: 'account_service_unreachable' },
  });
  const requests: [path: string, body: object][] = [
    ['/api/v1/auth/register', { username: 'ann', password: ROOT_PASSWORD }],
    ['/api/v1/auth/register', { username: 'ann', password: ROOT_PASSWORD, invitation: newToken('svci_') }],
    ['/api/v1/auth/reset-password', { token: 'svcr_unknown', password: ROOT_PASSWORD }],
  ];
  for (const [path, body] of requests) {
    const answer = await bed.ask('POST', path, { body });
    t.match(answer, { status: 503, body: { error: 'account_service_unreachable' } }, path);
    t.equal(answer.headers.get('retry-after'), '1');
  }
});

t.test('what another process changed holds after the greatest age of what is remembered', async (t) => {
  const bed = await openIdentity(t, { overrides: { cacheMaxAgeMs: 20 } });
  const root = await bed.makeRoot();
  const { api_key, id } = await makeKey(bed, root);
  t.equal((await chat(bed, api_key)).status, 200);
  await revokeBehindItsBack(bed.storage, id);
  let answer = await chat(bed, api_key);
  for (const startedAt = Date.now(); answer.status === 200 && Date.now() - startedAt < 5000; ) answer = await chat(bed, api_key);
  t.match(answer, { status: 401, body: { reason: 'api_key_revoked' } });
});

t.test('when a key was last used is known', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const { api_key } = await makeKey(bed, root);
  const shown = async (from: IdentityBed) => (await from.ask('GET', '/api/v1/identity/keys', { as: root })).body.data[0].used_at;
  t.equal(await shown(bed), null);
  await chat(bed, api_key);
  t.match(await shown(await bed.restart()), /Z$/);
});

async function revokeBehindItsBack(storage: Storage, id: string): Promise<void> {
  await storage
    .access<IdentityTables>()
    .writeUnit(systemScope(), (db) => [db.updateTable('identity_api_keys').set({ revoked_at: Date.now() }).where('id', '=', id)]);
}
