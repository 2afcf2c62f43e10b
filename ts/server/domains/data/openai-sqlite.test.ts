import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testStoredFiles } from './test-support/stored-file-contract.ts';
import { testVectorStores } from './test-support/vector-store-contract.ts';

for (const test of [testStoredFiles, testVectorStores])
  test(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-openai-'));
    return { url: `sqlite:${join(folder, 'svc.db')}`, remove: () => rm(folder, { recursive: true }) };
  });
