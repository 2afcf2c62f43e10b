/** No way leads to an installation that no superadmin can sign in to, on both databases. */
import type { Test } from 'tap';
import { newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { type IdentityBed, openIdentity } from './test-support/identity-bed.ts';

const PASSWORD = 'another horse battery';
const users = '/api/v1/identity/users';
const refused = { status: 409, body: { error: 'last_superadmin' } };

async function testSuperadmins(t: Test, bed: IdentityBed): Promise<void> {
  const root = await bed.makeRoot();
  const ask = (method: string, path: string, body?: object) => bed.ask(method, path, { as: root, body });
  const make = async (username: string, more: object = {}): Promise<string> => {
    const made = await ask('POST', users, { username, role: 'superadmin', tenant: 'default', ...more });
    return made.body.id as string;
  };
  const [first] = (await ask('GET', users)).body.data as [{ id: string }];
  await ask('POST', '/api/v1/identity/tenants', { id: 'other', name: 'Other' });

  const keysOnly = await make('without-password');
  await make('disabled', { password: PASSWORD }).then((id) => ask('PATCH', `${users}/${id}`, { disabled: true }));
  for (const [what, method, body] of [
    ['disabled', 'PATCH', { disabled: true }],
    ['demoted', 'PATCH', { role: 'admin' }],
    ['deleted', 'DELETE', undefined],
  ] as const) {
    t.match(await ask(method, `${users}/${first.id}`, body), refused, `the one that can sign in is not ${what}`);
  }
  t.match(await ask('GET', `${users}/${first.id}`), { body: { role: 'superadmin', disabled: false } }, 'nothing is half done');
  t.equal((await ask('PATCH', `${users}/${keysOnly}`, { disabled: true })).status, 200, 'one that could not sign in is no loss');

  const elsewhere = await make('elsewhere', { tenant: 'other', password: PASSWORD });
  const answers = await Promise.all([first.id, elsewhere].map((id) => ask('PATCH', `${users}/${id}`, { disabled: true })));
  t.equal(answers.filter(({ status }) => status === 200).length, 1, 'of two at once one stays');
  const { body: signedIn } = await bed.ask('POST', '/api/v1/auth/login', { body: { username: 'elsewhere', password: PASSWORD } });
  const { body: kept } =
    signedIn.token === undefined
      ? { body: { role: 'superadmin' } }
      : await bed.ask('GET', '/api/v1/auth/whoami', { as: signedIn.token });
  t.equal(kept.role, 'superadmin');
}

/** A tenant with the only superadmin who can sign in stays. */
async function testTenantOfSuperadmin(t: Test, bed: IdentityBed): Promise<void> {
  const root = await bed.makeRoot();
  const ask = (method: string, path: string, body?: object, as = root) => bed.ask(method, path, { as, body });
  await ask('POST', '/api/v1/identity/tenants', { id: 'other', name: 'Other' });
  await ask('POST', users, { username: 'ann', role: 'superadmin', tenant: 'other', password: PASSWORD });
  await ask('POST', users, { username: 'keys', role: 'superadmin', tenant: 'default' });
  const { body } = await bed.ask('POST', '/api/v1/auth/login', { body: { username: 'ann', password: PASSWORD } });
  const [rootUser] = (await ask('GET', `${users}?username=root`)).body.data as [{ id: string }];
  t.equal((await ask('DELETE', `${users}/${rootUser.id}`, undefined, body.token)).status, 204);
  t.match(await ask('DELETE', '/api/v1/identity/tenants/other?force=true', undefined, body.token), refused);
  t.equal((await ask('GET', '/api/v1/auth/whoami', undefined, body.token)).status, 200, 'and all its accounts');
  await ask('POST', users, { username: 'eve', role: 'superadmin', tenant: 'default', password: PASSWORD }, body.token);
  t.equal((await ask('DELETE', '/api/v1/identity/tenants/other?force=true', undefined, body.token)).status, 204);
}

onEachDatabase((t, newDatabase) => {
  const open = async (t: Test) => openIdentity(t, { databaseUrl: await newUrl(t, newDatabase) });
  t.test('a superadmin who can sign in is always left', async (t) => testSuperadmins(t, await open(t)));
  t.test('the tenant of the only superadmin who can sign in stays', async (t) => testTenantOfSuperadmin(t, await open(t)));
});
