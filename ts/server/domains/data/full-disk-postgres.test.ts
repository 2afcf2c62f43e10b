import t from 'tap';
import { PostgresCluster } from '../../platform/storage/test-support/postgres-cluster.ts';
import { testFullDisk } from './test-support/full-disk-contract.ts';

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else {
  const cluster = await PostgresCluster.startOwn();
  t.teardown(() => cluster.remove());
  testFullDisk(24, (disk) => cluster.newDatabase(disk));
}
