import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ContractDatabase, testConversationContract } from './test-support/conversation-contract.ts';
import { testLibraryContract } from './test-support/library-contract.ts';
import { testQuotaContract } from './test-support/quota-contract.ts';

async function newDatabase(): Promise<ContractDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-conversations-'));
  return { url: `sqlite:${join(folder, 'svc.db')}`, remove: () => rm(folder, { recursive: true }) };
}

testConversationContract(newDatabase);
testLibraryContract(newDatabase);
testQuotaContract(newDatabase);
