import t from 'tap';
import { PostgresCluster } from '../../platform/storage/test-support/postgres-cluster.ts';
import { backupContract } from './test-support/backup-contract.ts';

t.setTimeout(300_000);
const missing = PostgresCluster.missing();

t.test('on PostgreSQL', { skip: missing ?? false }, async (t) => {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  backupContract(t, { newUrl: () => cluster.newDatabase() });
});
