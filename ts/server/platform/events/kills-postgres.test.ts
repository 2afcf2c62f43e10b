import t from 'tap';
import { PostgresCluster } from '../storage/test-support/postgres-cluster.ts';
import { testEventKills } from './test-support/kill-contract.ts';

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  testEventKills(async () => ({ url: await cluster.newDatabase(), remove: async () => undefined }));
}
