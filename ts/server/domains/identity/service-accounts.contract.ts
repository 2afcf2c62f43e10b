/** What holds of service accounts on both databases. */
import type { Test } from 'tap';
import { newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { type IdentityBed, openIdentity, ROOT_PASSWORD } from './test-support/identity-bed.ts';

const users = '/api/v1/identity/users';

async function testServiceAccounts(t: Test, bed: IdentityBed): Promise<void> {
  const root = await bed.makeRoot();
  const create = (body: object, as = root) => bed.ask('POST', users, { as, body: { role: 'developer', ...body } });
  await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'red' } });
  const made = await create({ username: 'robot', tenant: 'red', service: true });
  t.match(made, { status: 201, body: { service: true, has_password: false, tenant: 'red' } });
  const path = `${users}/${made.body.id}`;

  await t.test('it holds keys and acts with them', async (t) => {
    const { body: key } = await bed.ask('POST', '/api/v1/identity/keys', { as: root, body: { name: 'ci', user: made.body.id } });
    t.match(await bed.ask('POST', '/v1/chat/completions', { as: key.api_key }), {
      status: 200,
      body: { caller: { tenant: 'red' } },
    });
    const rotated = await bed.ask('POST', '/api/v1/users/me/api-key', { as: key.api_key });
    t.equal(rotated.status, 200);
    const capability = await bed.ask('POST', '/api/v1/identity/capabilities', {
      as: rotated.body.api_key,
      body: { scopes: ['chat:use'], expires_in_seconds: 60 },
    });
    t.equal(capability.status, 201);
  });

  await t.test('it never gets a password, whoever asks and however', async (t) => {
    const refused = { status: 400, body: { error: 'service_account' } };
    t.match(await create({ username: 'other', service: true, password: ROOT_PASSWORD }), refused);
    t.match(await bed.ask('PATCH', path, { as: root, body: { password: ROOT_PASSWORD } }), refused);
    t.match(await bed.ask('POST', `${path}/password-reset`, { as: root }), refused);
    const login = (password: string) => bed.ask('POST', '/api/v1/auth/login', { body: { username: 'robot', password } });
    for (const password of [ROOT_PASSWORD, 'robot', ' ']) {
      t.match(await login(password), { status: 401, body: { reason: 'wrong_name_or_password' } });
    }
    t.match(await bed.ask('GET', path, { as: root }), { body: { has_password: false, role: 'developer' } });
  });

  await t.test('lists tell it from people', async (t) => {
    const list = async (query: string) =>
      (await bed.ask('GET', `${users}${query}`, { as: root })).body.data.map(({ username }: { username: string }) => username);
    t.strictSame(await list('?service=true'), ['robot']);
    t.strictSame(await list('?service=false'), ['root']);
    t.strictSame((await list('')).sort(), ['robot', 'root']);
  });

  await t.test('it does not count as somebody who can sign in to administer', async (t) => {
    t.equal((await create({ username: 'super-robot', role: 'superadmin', service: true })).status, 201);
    const rootId = (await bed.ask('GET', '/api/v1/auth/whoami', { as: root })).body.user.id;
    for (const [method, body] of [['DELETE'], ['PATCH', { role: 'viewer' }], ['PATCH', { disabled: true }]] as const) {
      const answer = await bed.ask(method, `${users}/${rootId}`, { as: root, ...(body && { body }) });
      t.match(answer, { status: 409, body: { error: 'last_superadmin' } }, method);
    }
    const superRobot = (await bed.ask('GET', `${users}?username=super-robot`, { as: root })).body.data[0].id;
    t.equal((await bed.ask('DELETE', `${users}/${superRobot}`, { as: root })).status, 204);
  });
}

onEachDatabase((t, newDatabase) => {
  const open = async (t: Test) => openIdentity(t, { databaseUrl: await newUrl(t, newDatabase) });
  t.test('service accounts', async (t) => testServiceAccounts(t, await open(t)));
});
