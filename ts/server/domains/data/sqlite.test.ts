import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testKnowledgeContract } from './test-support/knowledge-contract.ts';

testKnowledgeContract(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-data-'));
  return { url: `sqlite:${join(folder, 'svc.db')}`, remove: () => rm(folder, { recursive: true }) };
});
