import t from 'tap';
import { PostgresCluster } from '../../ts/server/platform/storage/test-support/postgres-cluster.ts';
import { testKills } from './kill-test.ts';

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  testKills({ SVC_DATABASE_URL: await cluster.newDatabase() });
}
