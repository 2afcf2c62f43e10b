import { newSqliteDatabase } from '../jobs/test-support/open-jobs.ts';
import { testEventKills } from './test-support/kill-contract.ts';

testEventKills(newSqliteDatabase);
