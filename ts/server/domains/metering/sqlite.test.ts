import { sqliteUrl } from './test-support/metering-bed.ts';
import { testMeteringContract } from './test-support/metering-contract.ts';

testMeteringContract(async (t) => sqliteUrl(t));
