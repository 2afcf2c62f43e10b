import t from 'tap';
import { PostgresCluster } from '../../platform/storage/test-support/postgres-cluster.ts';
import { testConversationContract } from './test-support/conversation-contract.ts';
import { testLibraryContract } from './test-support/library-contract.ts';
import { testQuotaContract } from './test-support/quota-contract.ts';

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  const newDatabase = async () => ({ url: await cluster.newDatabase(), remove: async () => undefined });
  testConversationContract(newDatabase);
  testLibraryContract(newDatabase);
  testQuotaContract(newDatabase);
}
