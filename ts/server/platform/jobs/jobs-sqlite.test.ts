import { testJobsContract } from './test-support/jobs-contract.ts';
import { newSqliteDatabase } from './test-support/open-jobs.ts';

testJobsContract(newSqliteDatabase);
