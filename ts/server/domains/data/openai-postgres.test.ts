import t from 'tap';
import { PostgresCluster } from '../../platform/storage/test-support/postgres-cluster.ts';
import { testStoredFiles } from './test-support/stored-file-contract.ts';
import { testVectorStores } from './test-support/vector-store-contract.ts';

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  for (const test of [testStoredFiles, testVectorStores])
    test(async () => ({ url: await cluster.newDatabase(), remove: async () => undefined }));
}
