import t from 'tap';
import { PostgresCluster } from '../storage/test-support/postgres-cluster.ts';
import { testJobsContract } from './test-support/jobs-contract.ts';

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  testJobsContract(async () => ({ url: await cluster.newDatabase(), remove: async () => undefined }));
}
