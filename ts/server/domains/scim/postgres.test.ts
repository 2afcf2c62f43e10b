import t from 'tap';
import { PostgresCluster } from '../../platform/storage/test-support/postgres-cluster.ts';
import { testProvisioning } from './test-support/provisioning-contract.ts';
import { openScim } from './test-support/scim-bed.ts';

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  t.test('on PostgreSQL', async (t) => testProvisioning(t, await openScim(t, { databaseUrl: await cluster.newDatabase() })));
}
