import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { testStorageContract } from '../test-support/storage-contract.ts';

t.setTimeout(120_000);

testStorageContract(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-sqlite-'));
  return { url: `sqlite:${join(folder, 'svc.sqlite')}`, remove: () => rm(folder, { recursive: true }) };
});
