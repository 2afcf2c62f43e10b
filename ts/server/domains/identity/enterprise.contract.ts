/** What groups and invitations must do on either database. */
import type { Test } from 'tap';
import { eventsMigrations } from '../../platform/events/index.ts';
import type { Principal } from '../../platform/http/principal.ts';
import { createStorage, systemScope, tenantScope } from '../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { identityMigrations } from './migrations.ts';
import { type Answer, type IdentityBed, openIdentity, ROOT_PASSWORD } from './test-support/identity-bed.ts';
import { worldOf } from './test-support/world.ts';

const GROUPS = '/api/v1/identity/groups';
const INVITATIONS = '/api/v1/identity/invitations';

function testEnterprise(t: Test, newDatabase: NewDatabase): void {
  const open = async (t: Test) => openIdentity(t, { databaseUrl: await newUrl(t, newDatabase) });
  t.test('a group gives its members a role, and takes it back with them', async (t) => testGroupRoles(t, await open(t)));
  t.test('where a tenant limits its models, groups grant them', async (t) => testGrants(t, await open(t)));
  t.test('groups of another tenant look like unknown ones', async (t) => testForeignGroups(t, await open(t)));
  t.test('an invitation makes as many accounts as it says', async (t) => testInvitations(t, await open(t)));
  t.test('an invitation ends with the one that made it', async (t) => testEndedInviter(t, await open(t)));
  t.test('many guests at once use an invitation no more often than it says', async (t) => testManyGuests(t, await open(t)));
  t.test('a deleted tenant takes its groups and invitations along', async (t) => testTenantRemoval(t, await open(t)));
  t.test('grants and limits of an earlier version are kept', async (t) => testEarlierGrants(t, await newUrl(t, newDatabase)));
}

/** Grants and limits of a version that had a column for models and one for knowledge bases. @param databaseUrl of an empty database. */
async function testEarlierGrants(t: Test, databaseUrl: string): Promise<void> {
  const earlier = { module: 'identity', migrations: identityMigrations.filter(({ id }) => id < 6) };
  const storage = createStorage({ url: databaseUrl, modules: [eventsMigrations, earlier] });
  await storage.open();
  const tables = storage.access<Record<string, Record<string, string | number | null>>>();
  await tables.write(systemScope(), async (tx) => {
    await tx.updateTable('identity_tenants').set({ model_access: 'granted' }).execute();
  });
  const ids = { tenant: 'default', id: 'grp_0000000000000001', created_at: 1 };
  await tables.write(tenantScope('default'), async (tx) => {
    const names = { models: '["llama*","it\'s"]', namespaces: '[]' };
    const group = { ...ids, ...names, name: 'Staff', name_key: 'staff', description: '', updated_at: 1 };
    await tx.insertInto('identity_groups').values(group).execute();
    const token = { ...ids, user_id: 'usr', scopes: '[]', expires_at: 2 * Date.now(), models: null, namespaces: '["handbook"]' };
    await tx
      .insertInto('identity_capabilities')
      .values({ ...token, revocation_id: 'aa' })
      .execute();
  });
  await storage.close();
  const bed = await openIdentity(t, { databaseUrl });
  const root = await bed.makeRoot();
  const { body: group } = await bed.ask('GET', `${GROUPS}/${ids.id}`, { as: root });
  t.strictSame(group.grants, { models: ['llama*', "it's"], namespaces: [] });
  t.match(await bed.ask('GET', '/api/v1/identity/tenants', { as: root }), {
    body: { data: [{ model_access: 'granted', namespace_access: 'open' }] },
  });
  const [token] = await bed.storage
    .access<{ identity_capabilities: { uses: string } }>()
    .read(systemScope(), (db) => db.selectFrom('identity_capabilities').select('uses').execute());
  t.strictSame(JSON.parse(token?.uses ?? ''), { models: null, namespaces: ['handbook'] });
}

async function testGroupRoles(t: Test, bed: IdentityBed): Promise<void> {
  const { root, make } = await worldOf(bed);
  const bob = await make('bob', 'viewer');
  const isDeveloper = async () => (await bed.ask('GET', '/api/v1/policy/developer', { as: bob.session })).status;
  const isAdmin = async () => (await bed.ask('GET', '/api/v1/policy/admin', { as: bob.session })).status;
  const made = await bed.ask('POST', GROUPS, { as: root, body: { name: 'Staff', role: 'developer', description: 'all' } });
  t.match(made, { status: 201, body: { id: /^grp_/, name: 'Staff', role: 'developer', tenant: 'default', member_count: 0 } });
  const group = `${GROUPS}/${made.body.id}`;
  t.match(await bed.ask('POST', GROUPS, { as: root, body: { name: 'STAFF' } }), { status: 409, body: { error: 'group_exists' } });
  t.match(await bed.ask('POST', GROUPS, { as: root, body: { name: 'x', role: 'superadmin' } }), { status: 400 });
  t.equal(await isDeveloper(), 403);
  t.equal((await bed.ask('POST', `${group}/members`, { as: root, body: { users: [bob.id, bob.id] } })).status, 204);
  t.equal(await isDeveloper(), 200, 'a session that is open has the role at once');
  t.match(await bed.ask('GET', `/api/v1/identity/users/${bob.id}`, { as: root }), {
    body: { role: 'developer', assigned_role: 'viewer' },
  });
  t.match(await bed.ask('GET', `${group}/members`, { as: root }), { body: { data: [{ id: bob.id, username: 'bob' }] } });
  t.match(await bed.ask('GET', GROUPS, { as: root }), { body: { data: [{ id: made.body.id, member_count: 1 }] } });
  const changed = await bed.ask('PATCH', group, { as: root, body: { role: 'admin', grants: { models: ['llama*'] } } });
  t.match(changed, { status: 200, body: { role: 'admin', grants: { models: ['llama*'], namespaces: [] }, description: 'all' } });
  t.equal(await isAdmin(), 200);
  await bed.ask('PATCH', `/api/v1/identity/users/${bob.id}`, { as: root, body: { role: 'developer' } });
  t.equal(await isAdmin(), 200, 'its own role is lower than that of the group');
  t.equal((await bed.ask('DELETE', `${group}/members/${bob.id}`, { as: root })).status, 204);
  t.equal(await isAdmin(), 403);
  t.equal(await isDeveloper(), 200);
  t.match(await bed.ask('DELETE', `${group}/members/${bob.id}`, { as: root }), {
    status: 404,
    body: { error: 'user_not_found' },
  });
  await bed.ask('POST', `${group}/members`, { as: root, body: { users: [bob.id] } });
  t.equal((await bed.ask('DELETE', group, { as: root })).status, 204);
  t.equal(await isAdmin(), 403, 'a deleted group gives nothing');
  t.match(await bed.ask('GET', group, { as: root }), { status: 404, body: { error: 'group_not_found' } });
  const log = await bed.ask('GET', '/api/v1/identity/audit?limit=1000', { as: root });
  const actions = log.body.data.map(({ action }: { action: string }) => action) as string[];
  for (const action of ['group.create', 'group.update', 'group.add', 'group.remove', 'group.delete']) {
    t.ok(actions.includes(action), action);
  }
  t.match(await bed.ask('GET', '/api/v1/identity/audit/verify', { as: root }), { body: { broken_at: null } });
}

async function testGrants(t: Test, bed: IdentityBed): Promise<void> {
  const { root, make, caller } = await worldOf(bed);
  const bob = await make('bob', 'viewer');
  const admin = await make('ann', 'admin');
  const { uses } = bed.module.api;
  const mayUseNamespace = async (caller: Principal, name: string) => (await uses.of(caller, 'namespaces'))(name);
  const may = async (session: string, name: string) => (await uses.of(await caller(session), 'models'))(name);
  t.equal(await may(bob.session, 'any'), true, 'a tenant is open by default');
  const tenant = (body: object) => bed.ask('PATCH', '/api/v1/identity/tenants/default', { as: root, body });
  t.match(await tenant({ model_access: 'granted', namespace_access: 'granted' }), { body: { model_access: 'granted' } });
  t.equal(await may(bob.session, 'any'), false);
  t.equal(await may(admin.session, 'any'), true, 'administrators use everything');
  t.equal(await mayUseNamespace(await caller(bob.session), 'handbook'), false);
  const grants = { models: ['qwen2.5-*', 'bge-m3'], namespaces: ['hand*k'] };
  const { body: group } = await bed.ask('POST', GROUPS, { as: root, body: { name: 'staff', grants } });
  t.equal(await may(bob.session, 'bge-m3'), false);
  await bed.ask('POST', `${GROUPS}/${group.id}/members`, { as: root, body: { users: [bob.id] } });
  t.equal(await may(bob.session, 'bge-m3'), true, 'at once');
  t.equal(await may(bob.session, 'qwen2.5-7b'), true);
  t.equal(await may(bob.session, 'llama'), false);
  t.equal(await mayUseNamespace(await caller(bob.session), 'handbook'), true);
  t.equal(await mayUseNamespace(await caller(bob.session), 'secrets'), false);
  await bed.ask('PATCH', `${GROUPS}/${group.id}`, { as: root, body: { grants: { models: ['*'] } } });
  t.equal(await may(bob.session, 'llama'), true);
  t.equal(await mayUseNamespace(await caller(bob.session), 'handbook'), true, 'what a change does not name stays');
  await bed.ask('DELETE', `${GROUPS}/${group.id}/members/${bob.id}`, { as: root });
  t.equal(await may(bob.session, 'llama'), false, 'at once');
  await tenant({ model_access: 'open' });
  t.equal(await may(bob.session, 'llama'), true);
  t.equal(await mayUseNamespace(await caller(bob.session), 'handbook'), false, 'each kind has a setting of its own');
}

async function testForeignGroups(t: Test, bed: IdentityBed): Promise<void> {
  const { root, make } = await worldOf(bed);
  for (const id of ['red', 'blue']) await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id } });
  const red = await make('red-admin', 'admin', 'red');
  const blue = await make('blue-user', 'viewer', 'blue');
  const { body: foreign } = await bed.ask('POST', GROUPS, { as: root, body: { name: 'theirs', tenant: 'blue' } });
  const { body: own } = await bed.ask('POST', GROUPS, { as: red.session, body: { name: 'theirs' } });
  t.equal(own.tenant, 'red', 'names are unique in a tenant only');
  t.strictSame(
    (await bed.ask('GET', GROUPS, { as: red.session })).body.data.map(({ id }: { id: string }) => id),
    [own.id],
  );
  const alike = (answer: Answer, id: string) => [
    answer.status,
    answer.body?.error,
    String(answer.body?.detail).replaceAll(id, 'ID'),
  ];
  for (const [method, suffix, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { name: 'mine' }],
    ['DELETE', '', undefined],
    ['GET', '/members', undefined],
    ['POST', '/members', { users: [red.id] }],
    ['DELETE', `/members/${blue.id}`, undefined],
  ] as const) {
    const on = async (id: string) => alike(await bed.ask(method, `${GROUPS}/${id}${suffix}`, { as: red.session, body }), id);
    t.strictSame(await on(foreign.id), await on('grp_none'), `${method} ${suffix}`);
  }
  const add = (id: string) => bed.ask('POST', `${GROUPS}/${own.id}/members`, { as: red.session, body: { users: [red.id, id] } });
  t.strictSame(alike(await add(blue.id), blue.id), alike(await add('usr_none'), 'usr_none'), 'nobody of another tenant gets in');
  t.match(await bed.ask('GET', `${GROUPS}/${own.id}/members`, { as: red.session }), { body: { data: [] } }, 'all or none');
  t.match(await bed.ask('POST', GROUPS, { as: red.session, body: { name: 'x', tenant: 'blue' } }), { status: 404 });
}

async function testInvitations(t: Test, bed: IdentityBed): Promise<void> {
  const { root } = await worldOf(bed);
  await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'red' } });
  const { body: group } = await bed.ask('POST', GROUPS, { as: root, body: { name: 'team', tenant: 'red', role: 'admin' } });
  const body = { role: 'developer', tenant: 'red', groups: [group.id], note: 'for the team', max_uses: 2 };
  const made = await bed.ask('POST', INVITATIONS, { as: root, body });
  t.match(made, { status: 201, body: { id: /^inv_/, token: /^svci_/, link: /^\/login#invitation=svci_/, state: 'open' } });
  t.equal(made.headers.get('cache-control'), 'no-store');
  const { token } = made.body as { token: string };
  t.notOk(JSON.stringify((await bed.ask('GET', INVITATIONS, { as: root })).body).includes(token), 'it is shown once');
  const register = (username: string, more: object = {}) =>
    bed.ask('POST', '/api/v1/auth/register', { body: { username, password: ROOT_PASSWORD, invitation: token, ...more } });
  t.match(await register('eve', { tenant: 'default' }), { status: 403 });
  t.match(await register('root'), { status: 409, body: { error: 'name_taken' } });
  t.match(await register('ann', { password: 'short' }), { status: 400, body: { error: 'weak_password' } });
  const ann = await register('ann');
  t.match(ann, { status: 201, body: { user: { tenant: 'red', role: 'admin' } } }, 'the group brings a higher role');
  t.match(await register('bob', { tenant: 'red' }), { status: 201 });
  t.match(await register('carl'), { status: 400, body: { error: 'invalid_invitation' } }, 'refused tries did not use it up');
  t.match(await bed.ask('GET', INVITATIONS, { as: root }), {
    body: { data: [{ uses: 2, state: 'used_up', note: 'for the team' }] },
  });
  t.match(await bed.ask('GET', `${GROUPS}/${group.id}`, { as: root }), { body: { member_count: 2 } });
  for (const wrong of [token.slice(0, -1), `svcs_${token.slice(5)}`, 'x'.repeat(300)]) {
    const answer = await bed.ask('POST', '/api/v1/auth/register', {
      body: { username: 'carl', password: ROOT_PASSWORD, invitation: wrong },
    });
    t.match(answer, { status: 400 });
  }
  const asAnn = (suffix: string, more: object = {}) => bed.ask('POST', INVITATIONS + suffix, { as: ann.body.token, body: more });
  t.match(await asAnn('', { role: 'superadmin' }), { status: 403 });
  t.match(await asAnn('', { tenant: 'default' }), { status: 404, body: { error: 'tenant_not_found' } });
  const { body: foreign } = await bed.ask('POST', GROUPS, { as: root, body: { name: 'other' } });
  t.match(await asAnn('', { groups: [foreign.id] }), { status: 404, body: { error: 'group_not_found' } });
  const { body: second } = await asAnn('');
  const remove = (as: string, id: string) => bed.ask('DELETE', `${INVITATIONS}/${id}`, { as });
  t.match(await remove(ann.body.token, made.body.id), { status: 204 });
  t.match(await remove(ann.body.token, made.body.id), { status: 404, body: { error: 'invitation_not_found' } });
  t.match(await remove(ann.body.token, second.id), { status: 204 });
  t.match(await register('carl', { invitation: second.token }), { status: 400, body: { error: 'invalid_invitation' } });
}

async function testEndedInviter(t: Test, bed: IdentityBed): Promise<void> {
  const { root, make } = await worldOf(bed);
  const ann = await make('ann', 'admin');
  const { body } = await bed.ask('POST', INVITATIONS, { as: ann.session, body: { role: 'admin', max_uses: 10 } });
  const register = (username: string) =>
    bed.ask('POST', '/api/v1/auth/register', { body: { username, password: ROOT_PASSWORD, invitation: body.token } });
  const patch = (changes: object) => bed.ask('PATCH', `/api/v1/identity/users/${ann.id}`, { as: root, body: changes });
  t.equal((await register('one')).status, 201);
  await patch({ role: 'developer' });
  t.match(await register('two'), { status: 400, body: { error: 'invalid_invitation' } });
  await patch({ role: 'admin', disabled: true });
  t.match(await register('two'), { status: 400 });
  await patch({ disabled: false });
  t.equal((await register('two')).status, 201);
  await bed.ask('DELETE', `/api/v1/identity/users/${ann.id}`, { as: root });
  t.match(await register('three'), { status: 400 });
}

async function testManyGuests(t: Test, bed: IdentityBed): Promise<void> {
  const { root } = await worldOf(bed);
  const { body } = await bed.ask('POST', INVITATIONS, { as: root, body: { max_uses: 3 } });
  const guests = Array.from({ length: 9 }, (_, i) =>
    bed.ask('POST', '/api/v1/auth/register', {
      body: { username: `guest${i}`, password: ROOT_PASSWORD, invitation: body.token },
    }),
  );
  const statuses = (await Promise.all(guests)).map(({ status }) => status);
  t.equal(statuses.filter((status) => status === 201).length, 3, statuses.join());
}

async function testTenantRemoval(t: Test, bed: IdentityBed): Promise<void> {
  const { root } = await worldOf(bed);
  const tenant = { as: root, body: { id: 'red' } };
  await bed.ask('POST', '/api/v1/identity/tenants', tenant);
  await bed.ask('POST', GROUPS, { as: root, body: { name: 'team', tenant: 'red' } });
  const { body: invitation } = await bed.ask('POST', INVITATIONS, { as: root, body: { tenant: 'red' } });
  t.equal((await bed.ask('DELETE', '/api/v1/identity/tenants/red', { as: root })).status, 204);
  await bed.ask('POST', '/api/v1/identity/tenants', tenant);
  t.match(await bed.ask('GET', GROUPS, { as: root }), { body: { data: [] } });
  const guest = { username: 'guest', password: ROOT_PASSWORD, invitation: invitation.token };
  t.match(await bed.ask('POST', '/api/v1/auth/register', { body: guest }), {
    status: 400,
    body: { error: 'invalid_invitation' },
  });
}

onEachDatabase(testEnterprise);
