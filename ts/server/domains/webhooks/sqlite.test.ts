import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testWebhookKills } from './test-support/kill-contract.ts';
import { testWebhookContract } from './test-support/webhook-contract.ts';

const newDatabase = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-webhooks-'));
  return { url: `sqlite:${join(folder, 'svc.db')}`, remove: () => rm(folder, { recursive: true, force: true }) };
};
testWebhookContract(newDatabase);
testWebhookKills(newDatabase);
