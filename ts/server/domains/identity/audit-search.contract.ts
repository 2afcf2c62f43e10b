/** What searching the audit log must do on either database. */
import type { Test } from 'tap';
import { newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { type IdentityBed, openIdentity, ROOT_PASSWORD } from './test-support/identity-bed.ts';

async function testAuditSearch(t: Test, bed: IdentityBed): Promise<void> {
  const root = await bed.makeRoot();
  const find = async (query: string, as = root) => {
    const { body } = await bed.ask('GET', `/api/v1/security/audit?${query}`, { as });
    return (body.data as { action: string; target: string }[]).map(({ action, target }) => `${action} ${target}`.trim());
  };
  for (const id of ['red', 'blue_1', 'blueX1']) await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id } });
  const admin = { username: 'red-admin', role: 'admin', tenant: 'red', password: ROOT_PASSWORD };
  await bed.ask('POST', '/api/v1/identity/users', { as: root, body: admin });
  const login = { username: 'red-admin', password: ROOT_PASSWORD };
  const session = (await bed.ask('POST', '/api/v1/auth/login', { body: login })).body.token as string;
  await bed.ask('POST', '/api/v1/auth/login', { body: { ...login, password: 'not the password' } });
  t.strictSame(await find('q=TENANT.create'), ['tenant.create blueX1', 'tenant.create blue_1', 'tenant.create red']);
  t.strictSame(await find('q=blue_1'), ['tenant.create blue_1'], 'an underscore is one, and no other character');
  t.strictSame(await find('q=%25'), [], 'so is a per cent sign');
  t.strictSame(await find(`q=${encodeURIComponent("' or 1=1 --")}`), []);
  t.match(await find('outcome=denied'), [/^session\.create usr_/]);
  t.strictSame(await find('q=tenant.create&outcome=denied'), []);
  t.strictSame(await find('q=tenant.create&limit=2'), ['tenant.create blueX1', 'tenant.create blue_1']);
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  t.strictSame(await find(`from=${tomorrow}`), []);
  t.equal((await find(`to=${tomorrow}&q=tenant.create`)).length, 3);
  t.strictSame(await find('q=blue_1', session), [], 'an administrator of a tenant finds no line of another');
  for (const query of ['from=yesterday', 'to=2026-13-41', 'outcome=no', 'q=', `q=${'x'.repeat(201)}`, 'q=a%00b'])
    t.equal((await bed.ask('GET', `/api/v1/security/audit?${query}`, { as: root })).status, 400, query);
}

onEachDatabase((t, newDatabase) => {
  const open = async (t: Test) => openIdentity(t, { databaseUrl: await newUrl(t, newDatabase) });
  t.test('the log is searched by words, outcome and time, within the tenant alone', async (t) =>
    testAuditSearch(t, await open(t)),
  );
});
