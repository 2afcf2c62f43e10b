import t from 'tap';
import { PostgresCluster } from '../../platform/storage/test-support/postgres-cluster.ts';
import { testKnowledgeContract } from './test-support/knowledge-contract.ts';

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  testKnowledgeContract(async () => ({ url: await cluster.newDatabase(), remove: async () => undefined }));
}
