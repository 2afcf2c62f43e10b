import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testConversationContract } from './test-support/conversation-contract.ts';

testConversationContract(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-conversations-'));
  return { url: `sqlite:${join(folder, 'svc.db')}`, remove: () => rm(folder, { recursive: true }) };
});
