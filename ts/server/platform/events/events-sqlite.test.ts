import { newSqliteDatabase } from '../jobs/test-support/open-jobs.ts';
import { testEventsContract } from './test-support/events-contract.ts';

testEventsContract(newSqliteDatabase);
