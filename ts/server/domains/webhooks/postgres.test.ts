import t from 'tap';
import { PostgresCluster } from '../../platform/storage/test-support/postgres-cluster.ts';
import { testWebhookKills } from './test-support/kill-contract.ts';
import { testWebhookContract } from './test-support/webhook-contract.ts';

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  const newDatabase = async () => ({ url: await cluster.newDatabase(), remove: async () => undefined });
  testWebhookContract(newDatabase);
  testWebhookKills(newDatabase);
}
