import t from 'tap';
import { backupContract } from './test-support/backup-contract.ts';

t.setTimeout(300_000);
backupContract(t, { newUrl: async () => undefined });
