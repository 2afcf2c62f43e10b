import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testKills } from './test-support/kill-contract.ts';

testKills(async () => `sqlite:${join(await mkdtemp(join(tmpdir(), 'svc-data-')), 'svc.db')}`);
