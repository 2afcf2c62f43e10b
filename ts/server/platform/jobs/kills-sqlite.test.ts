import { testKills } from './test-support/kill-contract.ts';
import { newSqliteDatabase } from './test-support/open-jobs.ts';

testKills(newSqliteDatabase);
