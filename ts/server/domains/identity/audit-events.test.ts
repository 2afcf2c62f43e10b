/** Which lines of the audit log become events for other modules. */
import t from 'tap';
import type { EventRow } from '../../platform/events/index.ts';
import { systemScope } from '../../platform/storage/index.ts';
import { openIdentity, ROOT_PASSWORD } from './test-support/identity-bed.ts';

t.test('accounts, keys and denials are told in the transaction of their line, and strangers’ failures are not', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const told = async (): Promise<string[]> => {
    const rows = await bed.storage
      .access<{ events: EventRow }>()
      .read(systemScope(), (db) => db.selectFrom('events').selectAll().orderBy('seq').execute());
    return rows.map(
      ({ tenant, type, payload }) =>
        `${tenant} ${type} ${(JSON.parse(payload) as { id?: string; action?: string }).id ?? (JSON.parse(payload) as { action: string }).action}`,
    );
  };
  const before = (await told()).length;
  t.equal(before, 1, 'the first account');
  const { body: bob } = await bed.ask('POST', '/api/v1/identity/users', {
    as: root,
    body: { username: 'bob', role: 'viewer', password: ROOT_PASSWORD },
  });
  const { body: key } = await bed.ask('POST', '/api/v1/identity/keys', { as: root, body: { name: 'ci', user: bob.id } });
  const { body: next } = await bed.ask('POST', `/api/v1/identity/users/${bob.id}/api-key`, { as: root });
  t.equal((await bed.ask('GET', '/api/v1/policy/admin', { as: next.api_key })).status, 403);
  t.equal((await bed.ask('POST', '/api/v1/auth/login', { body: { username: 'bob', password: 'wrong password' } })).status, 401);
  t.equal((await bed.ask('GET', '/api/v1/policy/viewer', { as: key.api_key })).status, 401);
  t.equal((await bed.ask('DELETE', `/api/v1/identity/keys/${next.id}`, { as: root })).status, 204);
  t.equal((await bed.ask('DELETE', `/api/v1/identity/users/${bob.id}`, { as: root })).status, 204);
  await bed.module.stop();
  t.strictSame(
    (await told()).slice(before).sort(),
    [
      'default identity.access-denied GET /api/v1/policy/admin',
      `default identity.key-created ${key.id}`,
      `default identity.key-created ${next.id}`,
      `default identity.key-revoked ${key.id}`,
      `default identity.key-revoked ${next.id}`,
      `default identity.user-created ${bob.id}`,
      `default identity.user-deleted ${bob.id}`,
    ].sort(),
  );
  const all = await bed.storage
    .access<{ events: EventRow }>()
    .read(systemScope(), (db) => db.selectFrom('events').select('payload').execute());
  for (const secret of [key.api_key, next.api_key, root, ROOT_PASSWORD])
    t.notOk(JSON.stringify(all).includes(secret), 'no secret');
});
