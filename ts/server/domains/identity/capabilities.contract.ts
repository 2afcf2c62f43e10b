/** What holds of capability tokens on both databases. */
import type { Test } from 'tap';
import { systemScope } from '../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { MAX_BLOCKS } from './capabilities/capability-limits.ts';
import type { IdentityTables } from './tables.ts';
import { deriveOffline, type Made, makeCapability } from './test-support/capabilities.ts';
import { type Answer, openIdentity, ROOT_PASSWORD } from './test-support/identity-bed.ts';

const path = '/api/v1/identity/capabilities';
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

async function testCapabilities(t: Test, newDatabase: NewDatabase): Promise<void> {
  const databaseUrl = await newUrl(t, newDatabase);
  const bed = await openIdentity(t, { databaseUrl });
  const root = await bed.makeRoot();
  const chat = (token: string) => bed.ask('POST', '/v1/chat/completions', bearer(token));
  const derive = (token: string, body: object, as = root) => bed.ask('POST', `${path}/derive`, { as, body: { token, ...body } });
  const revoke = (body: object, as = root) => bed.ask('POST', `${path}/revoke`, { as, body });
  const makeUser = async (username: string, tenant: string, role = 'developer') => {
    const body = { username, tenant, role, password: ROOT_PASSWORD };
    const { body: user } = await bed.ask('POST', '/api/v1/identity/users', { as: root, body });
    const login = await bed.ask('POST', '/api/v1/auth/login', { body });
    return { id: user.id as string, session: login.body.token as string };
  };
  await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'red' } });
  const ann = await makeUser('ann', 'red');

  await t.test('a token does what it says, as a bearer and as a key', async (t) => {
    const { id, token } = await makeCapability(bed, ann.session, {
      scopes: ['chat:use'],
      models: ['m1'],
      namespaces: ['n1', 'n2'],
    });
    t.match(token, /^svcc_[\w-]+$/);
    const caller = { kind: 'capability', tenant: 'red', subject: ann.id, scopes: ['chat:use'], keyId: id };
    t.match(await chat(token), {
      status: 200,
      body: { caller: { ...caller, limits: { models: ['m1'], namespaces: ['n1', 'n2'] } } },
    });
    const asKey = await bed.ask('POST', '/v1/chat/completions', { headers: { 'x-api-key': token } });
    t.match(asKey, { status: 200, body: { caller } });
    const whoami = await bed.ask('GET', '/api/v1/auth/whoami', bearer(token));
    t.match(whoami.body, {
      kind: 'capability',
      tenant: 'red',
      scopes: ['chat:use'],
      key_id: id,
      models: ['m1'],
      expires_at: /Z$/,
    });
    t.match(await bed.ask('GET', '/api/v1/identity/users', bearer(token)), { status: 403 });
    t.match(await bed.ask('GET', '/api/v1/users/me/settings', bearer(token)), { body: { error: 'insufficient_scope' } });
    const ownKey = await bed.ask('POST', '/api/v1/users/me/api-key', bearer(token));
    t.match(ownKey, { status: 403, body: { error: 'scope_beyond_caller' } }, 'no key can be made with it');
    t.equal((await bed.ask('GET', '/api/v1/auth/whoami', { headers: { cookie: `svc_session=${token}` } })).status, 401);
  });

  await t.test('what cannot be asked for', async (t) => {
    const ask = (as: string, body: object) =>
      bed.ask('POST', path, { as, body: { scopes: ['chat:use'], expires_in_seconds: 60, ...body } });
    const limited = await bed.ask('POST', '/api/v1/identity/keys', {
      as: ann.session,
      body: { name: 'x', scopes: ['account:manage', 'chat:use'], expires_in_seconds: 100 },
    });
    t.match(await ask(limited.body.api_key, { scopes: ['models:read'] }), {
      status: 403,
      body: { error: 'scope_beyond_caller' },
    });
    const made = await ask(limited.body.api_key, { expires_in_seconds: 5000 });
    t.ok(Date.parse(made.body.expires_at) <= Date.parse(limited.body.expires_at), 'it ends with the key that made it');
    t.match(await ask(ann.session, { scopes: ['admin'] }), { status: 403 });
    const wrong = [
      { scopes: ['account:manage'] },
      { scopes: ['identity:manage'] },
      { scopes: ['*'] },
      { scopes: 'chat:use' },
      { expires_in_seconds: 0 },
      { expires_in_seconds: 366 * 24 * 3600 },
      { expires_in_seconds: 1.5 },
      { models: ['a"b'] },
      { models: ['a\\'] },
      { models: ['a\nb'] },
      { models: [''] },
      { namespaces: Array.from({ length: 33 }, (_, i) => `${i}`) },
    ];
    for (const body of wrong) t.match(await ask(ann.session, body), { status: 400 }, JSON.stringify(body).slice(0, 60));
    const long = Array.from({ length: 32 }, (_, i) => `${i}${'x'.repeat(198)}`);
    t.match(await ask(ann.session, { models: long }), { status: 400, body: { error: 'capability_too_large' } });
    const local = await bed.ask('POST', path, { body: { scopes: ['chat:use'], expires_in_seconds: 60 } });
    t.equal(local.status, 401);
  });

  await t.test('derived here or offline, a token is narrower', async (t) => {
    const parent = await makeCapability(bed, ann.session, { scopes: ['chat:use', 'models:read'] });
    const child = await derive(parent.token, { scopes: ['chat:use'], models: ['m1'], expires_in_seconds: 600 }, ann.session);
    t.match(child, { status: 201, body: { parent: parent.id, scopes: ['chat:use'], models: ['m1'], user: ann.id } });
    const offline = await deriveOffline(bed, child.body.token, 'check if model("m1"); check if namespace("n1")');
    t.match(await chat(offline), {
      status: 200,
      body: { caller: { limits: { models: ['m1'], namespaces: ['n1'] }, keyId: child.body.id } },
    });
    const none = await deriveOffline(bed, child.body.token, 'check if scope("models:read")');
    t.match(await chat(none), { status: 403, body: { error: 'insufficient_scope' } });
    t.match(await derive(child.body.token, { scopes: ['models:read'] }), { status: 403, body: { error: 'beyond_parent' } });
    t.match(await derive(child.body.token, { models: ['m2'] }), { status: 403, body: { error: 'beyond_parent' } });
    const later = await derive(child.body.token, { expires_in_seconds: 100_000 });
    t.equal(later.body.expires_at, child.body.expires_at, 'it does not live longer');
    const own = await bed.ask('POST', `${path}/derive`, {
      ...bearer(parent.token),
      body: { token: parent.token, models: ['m3'] },
    });
    t.match(own, { status: 201 }, 'a holder derives with the token alone');
    let deep = parent.token;
    for (let n = 1; n < MAX_BLOCKS; n += 1) deep = (await derive(deep, {})).body.token;
    t.match(await derive(deep, {}), { status: 400, body: { error: 'capability_too_large' } });
    t.equal((await chat(deep)).status, 200);
    t.match(await chat(await deriveOffline(bed, deep, 'check if model("m1")')), { body: { reason: 'bad_encoding' } });
  });

  await t.test('revoking a token ends all that were derived from it, and no other', async (t) => {
    const parent = await makeCapability(bed, ann.session, { scopes: ['chat:use'] });
    const child = (await derive(parent.token, { models: ['m1'] })).body as Made;
    const sibling = (await derive(parent.token, { models: ['m2'] })).body as Made;
    const offline = await deriveOffline(bed, child.token, 'check if model("m1")');
    const grandchild = await deriveOffline(bed, offline, 'check if namespace("n1")');
    for (const token of [parent.token, child.token, sibling.token, offline, grandchild]) t.equal((await chat(token)).status, 200);
    const works = async () => {
      const all = await Promise.all([parent.token, sibling.token, child.token, offline, grandchild].map(chat));
      return all.map(({ status, body }) => (status === 200 ? 'yes' : body.reason));
    };
    t.equal((await revoke({ token: offline }, ann.session)).status, 204, 'one that has no row here');
    t.strictSame(await works(), ['yes', 'yes', 'yes', 'expired', 'expired']);
    t.equal((await revoke({ id: child.id }, ann.session)).status, 204);
    t.strictSame(await works(), ['yes', 'yes', 'expired', 'expired', 'expired']);
    t.match(await derive(child.token, {}), { status: 400, body: { error: 'invalid_capability', reason: 'expired' } });
    t.equal((await revoke({ token: parent.token }, ann.session)).status, 204);
    t.strictSame(await works(), ['expired', 'expired', 'expired', 'expired', 'expired']);
    t.match(await revoke({ id: child.id }), { status: 404, body: { error: 'capability_not_found' } });
    t.match(await revoke({ token: offline }), { status: 404, body: { error: 'capability_not_found' } });
    for (const body of [{}, { id: 'x', token: parent.token }]) t.match(await revoke(body), { status: 400 });
  });

  await t.test('nobody but its account and administrators sees or ends a token; another tenant’s looks unknown', async (t) => {
    await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'blue' } });
    const { id, token } = await makeCapability(bed, ann.session, { scopes: ['chat:use'] });
    const foreign = await makeUser('bea', 'blue', 'admin');
    const colleague = await makeUser('carl', 'red');
    t.match(await revoke({ id }, foreign.session), { status: 404, body: { error: 'capability_not_found' } });
    t.match(await revoke({ token }, foreign.session), { status: 400, body: { reason: 'unknown_key' } });
    t.match(await derive(token, {}, foreign.session), { status: 400, body: { reason: 'unknown_key' } });
    t.match(await revoke({ id }, colleague.session), { status: 404 });
    t.match(await revoke({ token }, colleague.session), { status: 400, body: { reason: 'unknown_key' } });
    const list = (as: string, query = '') => bed.ask('GET', path + query, { as });
    t.strictSame((await list(foreign.session)).body.data, []);
    t.match(await list(foreign.session, `?user=${ann.id}`), { status: 404, body: { error: 'user_not_found' } });
    t.match(await list(colleague.session, `?user=${ann.id}`), { status: 404 });
    const seen = (await list(root, `?user=${ann.id}`)).body.data as Made[];
    t.ok(seen.some((row) => row.id === id));
    t.notOk(JSON.stringify(seen).includes(token), 'the text is shown once');
    const first = await list(ann.session, '?limit=1');
    t.match((await list(ann.session, `?limit=1&after=${first.body.next}`)).body.data, [{ user: ann.id }]);
    const admin = await makeUser('dora', 'red', 'admin');
    t.equal((await revoke({ id }, admin.session)).status, 204);
    t.match(await chat(token), { status: 401, body: { error: 'invalid_api_key', reason: 'expired' } });
  });

  await t.test('the reasons of refused tokens', async (t) => {
    const { token } = await makeCapability(bed, ann.session, { scopes: ['chat:use'] });
    const short = await makeCapability(bed, ann.session, { scopes: ['chat:use'], expires_in_seconds: 1 });
    const broken = Buffer.from(token.slice(5), 'base64url');
    broken.write('blu', broken.indexOf('red'), 'latin1');
    const renumbered = Buffer.from(token.slice(5), 'base64url');
    renumbered.writeUInt8(renumbered.readUInt8(1) ^ 1, 1);
    const cases: [what: string, token: string, reason: string][] = [
      ['cut off', token.slice(0, -9), 'bad_encoding'],
      ['not base64', `${token}!`, 'bad_encoding'],
      ['far too long', `svcc_${'A'.repeat(9_000)}`, 'bad_encoding'],
      ['a text like one', `svcc_${'A'.repeat(300)}`, 'bad_encoding'],
      ['with a rule of the holder’s', await deriveOffline(bed, token, 'scope("admin")'), 'bad_encoding'],
      ['of another tenant by hand', broken.toString('base64url'), 'bad_signature'],
      ['of an unknown tenant', renumbered.toString('base64url'), 'unknown_key'],
    ];
    for (const [what, text, reason] of cases) {
      const native = await bed.ask('GET', '/api/v1/nothing', bearer(text));
      t.match(native, { status: 401, body: { error: 'invalid_credential', reason } }, what);
      t.equal(native.headers.get('www-authenticate'), 'Bearer', what);
      t.match(await chat(text), { status: 401, body: { error: 'invalid_api_key', reason } }, what);
    }
    const deadline = Date.now() + 10_000;
    let answer: Answer = await chat(short.token);
    while (answer.status === 200 && Date.now() < deadline) answer = await chat(short.token);
    t.match(answer, { status: 401, body: { reason: 'expired' } }, 'expires while it is in use');
  });

  await t.test('its account’s role, and the end of its account', async (t) => {
    const eve = await makeUser('eve', 'red', 'admin');
    const { token } = await makeCapability(bed, eve.session, { scopes: ['chat:use', 'audit:read'] });
    const user = `/api/v1/identity/users/${eve.id}`;
    const whoami = async () => (await bed.ask('GET', '/api/v1/auth/whoami', bearer(token))).body;
    t.match(await whoami(), { scopes: ['chat:use', 'audit:read'], role: 'admin' });
    await bed.ask('PATCH', user, { as: root, body: { role: 'viewer' } });
    t.strictSame((await whoami()).scopes, ['chat:use']);
    await bed.ask('PATCH', user, { as: root, body: { disabled: true } });
    t.match(await whoami(), { error: 'invalid_credential', reason: 'expired' });
    await bed.ask('PATCH', user, { as: root, body: { disabled: false } });
    t.match(await whoami(), { kind: 'capability' });
    await bed.ask('DELETE', user, { as: root });
    t.match(await whoami(), { reason: 'expired' });
  });

  await t.test('a deleted tenant’s tokens are of an unknown key, and no tenant gets its id again', async (t) => {
    await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'green' } });
    const fay = await makeUser('fay', 'green');
    const { token } = await makeCapability(bed, fay.session, { scopes: ['chat:use'] });
    t.equal((await chat(token)).status, 200);
    t.equal((await bed.ask('DELETE', '/api/v1/identity/tenants/green?force=true', { as: root })).status, 204);
    t.match(await chat(token), { status: 401, body: { reason: 'unknown_key' } });
    const again = await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'green' } });
    t.match(again, { status: 409, body: { error: 'tenant_id_used', detail: /another id/ } });
    t.match(await chat(token), { status: 401, body: { reason: 'unknown_key' } });
  });

  await t.test('the database holds no token, and no private key in the clear', async (t) => {
    const { token } = await makeCapability(bed, ann.session, { scopes: ['chat:use'] });
    const access = bed.storage.access<IdentityTables>();
    for (const table of ['identity_capability_keys', 'identity_capabilities', 'identity_audit'] as const) {
      const rows = await access.read(systemScope(), (db) => db.selectFrom(table).selectAll().execute());
      t.ok(rows.length > 0, table);
      t.notOk(JSON.stringify(rows).includes(token.slice(5)), table);
    }
    const keys = await access.read(systemScope(), (db) => db.selectFrom('identity_capability_keys').selectAll().execute());
    for (const { private_key } of keys) t.notMatch(private_key, /^[0-9a-f]{64}$/);
    t.notOk(JSON.stringify(bed.lines()).includes(token.slice(5)), 'nor the log');
    const audit = (await bed.ask('GET', '/api/v1/identity/audit?limit=1000', { as: root })).body.data as { action: string }[];
    const actions = new Set(audit.map(({ action }) => action));
    for (const action of ['create', 'derive', 'revoke', 'key']) t.ok(actions.has(`capability.${action}`), action);
  });
}

onEachDatabase(testCapabilities);
