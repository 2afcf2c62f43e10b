import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { PostgresCluster } from '../../platform/storage/test-support/postgres-cluster.ts';
import { testEnterprise, worldOf } from './test-support/enterprise-contract.ts';
import { openIdentity } from './test-support/identity-bed.ts';

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  t.test('on PostgreSQL', async (t) =>
    testEnterprise(t, async (t) => openIdentity(t, { databaseUrl: await cluster.newDatabase() })),
  );

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
