import { testKills } from './kill-test.ts';

testKills({});
