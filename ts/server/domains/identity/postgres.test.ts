/** Two nodes on one PostgreSQL database. */
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { PostgresCluster } from '../../platform/storage/test-support/postgres-cluster.ts';
import { openIdentity, ROOT_PASSWORD } from './test-support/identity-bed.ts';
import { worldOf } from './test-support/world.ts';

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else await testPostgres(await PostgresCluster.start());

async function testPostgres(cluster: PostgresCluster): Promise<void> {
  t.teardown(() => cluster.remove());

  t.test('two nodes on one database', async (t) => {
    const databaseUrl = await cluster.newDatabase();
    const [one, two] = [await openIdentity(t, { databaseUrl }), await openIdentity(t, { databaseUrl })];
    const register = (bed: typeof one, username: string) =>
      bed.ask('POST', '/api/v1/auth/register', { body: { username, password: ROOT_PASSWORD } });
    const made = await Promise.all([register(one, 'a'), register(two, 'b'), register(one, 'c'), register(two, 'd')]);
    t.strictSame(
      made.map(({ status }) => status),
      [201, 201, 201, 201],
    );
    t.equal(made.filter(({ body }) => body.user.role === 'superadmin').length, 1, 'exactly one is first');
    const root = made.find(({ body }) => body.user.role === 'superadmin')?.body.token as string;

    await t.test('the other node asks for credentials, and knows those of the first', async (t) => {
      const deadline = performance.now() + 20_000;
      const isOpen = async (): Promise<boolean> => (await two.ask('GET', '/api/v1/policy/viewer')).status === 200;
      while ((await isOpen()) && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
      t.equal(await isOpen(), false);
      t.equal((await two.ask('GET', '/api/v1/policy/superadmin', { as: root })).status, 200);
    });

    await t.test('a key that one revokes stops on the other within a second', async (t) => {
      const { body: key } = await one.ask('POST', '/api/v1/identity/keys', { as: root, body: { name: 'x' } });
      t.equal((await two.ask('POST', '/v1/chat/completions', { as: key.api_key })).status, 200);
      await one.ask('DELETE', `/api/v1/identity/keys/${key.id}`, { as: root });
      const startedAt = performance.now();
      const works = async (): Promise<boolean> =>
        (await two.ask('POST', '/v1/chat/completions', { as: key.api_key })).status === 200;
      while ((await works()) && performance.now() - startedAt < 5_000) await new Promise((resolve) => setTimeout(resolve, 20));
      // A second where the listener was just lost, and what a machine that others use adds to it.
      t.ok(performance.now() - startedAt < 2_500, `${Math.round(performance.now() - startedAt)} ms`);
    });

    await t.test('both write one audit log', async (t) => {
      const create = (bed: typeof one, id: string) => bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id } });
      const answers = await Promise.all(Array.from({ length: 16 }, (_, i) => create(i % 2 === 0 ? one : two, `t${i}`)));
      t.ok(answers.every(({ status }) => status === 201));
      t.match(await one.ask('GET', '/api/v1/security/audit/verify', { as: root }), { status: 200, body: { broken_at: null } });
    });

    await t.test('a tenant that one makes or deletes is so on the other at once', async (t) => {
      const tenants = '/api/v1/identity/tenants';
      const invite = (tenant: string) =>
        two.ask('POST', '/api/v1/identity/invitations', { as: root, body: { tenant, role: 'viewer' } });
      for (const id of ['fresh-1', 'fresh-2', 'fresh-3']) {
        t.match(await one.ask('POST', tenants, { as: root, body: { id } }), { status: 201 });
        t.match(await invite(id), { status: 201 });
        t.match(await one.ask('DELETE', `${tenants}/${id}?force=true`, { as: root }), { status: 204 });
        t.match(await invite(id), { status: 404, body: { error: 'tenant_not_found' } });
        t.notOk((await two.ask('GET', tenants, { as: root })).body.data.some((tenant: { id: string }) => tenant.id === id));
      }
    });

    await t.test('accounts of a tenant, end to end', async (t) => {
      const admin = { username: 'red-admin', role: 'admin', tenant: 't1', password: ROOT_PASSWORD };
      const { status, body: user } = await one.ask('POST', '/api/v1/identity/users', { as: root, body: admin });
      t.equal(status, 201, 'the other node made its tenant');
      const session = (await one.ask('POST', '/api/v1/auth/login', { body: admin })).body.token as string;
      t.equal((await one.ask('GET', '/api/v1/identity/users', { as: session })).body.data.length, 1);
      t.match(await one.ask('POST', '/api/v1/identity/users', { as: session, body: { username: 'red', role: 'viewer' } }), {
        status: 201,
      });
      const first = (await one.ask('POST', '/api/v1/users/me/api-key', { as: session })).body.api_key as string;
      t.equal((await one.ask('POST', '/api/v1/users/me/api-key', { as: first })).status, 200);
      t.match(await one.ask('GET', '/api/v1/policy/viewer', { as: first }), { status: 401, body: { reason: 'api_key_revoked' } });
      t.equal((await one.ask('PUT', '/api/v1/users/me/settings', { as: session, body: { a: 1 } })).status, 200);
      const { body: reset } = await one.ask('POST', `/api/v1/identity/users/${user.id}/password-reset`, { as: root });
      const used = await one.ask('POST', '/api/v1/auth/reset-password', {
        body: { token: reset.token, password: 'another long one' },
      });
      t.equal(used.status, 204);
      t.equal((await one.ask('DELETE', '/api/v1/identity/tenants/t1?force=true', { as: root })).status, 204);
      t.match(await one.ask('GET', '/api/v1/policy/viewer', { as: session }), { status: 401 });
    });
  });

  t.test('a grant that one node takes away is gone on the other within a second', async (t) => {
    const databaseUrl = await cluster.newDatabase();
    const one = await openIdentity(t, { databaseUrl });
    const two = await openIdentity(t, { databaseUrl });
    const { root, make, caller } = await worldOf(one);
    const bob = await make('bob', 'viewer');
    await one.ask('PATCH', '/api/v1/identity/tenants/default', { as: root, body: { model_access: 'granted' } });
    const grants = { models: ['llama'] };
    const { body: group } = await one.ask('POST', '/api/v1/identity/groups', { as: root, body: { name: 'staff', grants } });
    await one.ask('POST', `/api/v1/identity/groups/${group.id}/members`, { as: root, body: { users: [bob.id] } });
    const principal = await caller(bob.session);
    const becomes = async (wanted: boolean, name: string): Promise<number> => {
      const startedAt = performance.now();
      const may = async () => (await two.module.api.uses.of(principal, 'models'))(name);
      while ((await may()) !== wanted && performance.now() - startedAt < 5_000) await wait(20);
      return performance.now() - startedAt;
    };
    t.ok((await becomes(false, 'other')) < 2_500, 'the setting of the tenant');
    t.ok((await becomes(true, 'llama')) < 2_500, 'the grant');
    await one.ask('DELETE', `/api/v1/identity/groups/${group.id}/members/${bob.id}`, { as: root });
    t.ok((await becomes(false, 'llama')) < 2_500, 'its end');
  });
}
