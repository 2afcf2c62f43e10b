import { join } from 'node:path';
import { testFullDisk } from './test-support/full-disk-contract.ts';

testFullDisk(8, async (disk) => `sqlite:${join(disk, 'svc.db')}`);
