import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testResponseStoreContract } from './test-support/response-store-contract.ts';

testResponseStoreContract(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-responses-'));
  return { url: `sqlite:${join(folder, 'svc.db')}`, remove: () => rm(folder, { recursive: true }) };
});
