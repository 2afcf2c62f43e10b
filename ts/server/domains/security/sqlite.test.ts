import { join } from 'node:path';
import { testSecurityContract } from './test-support/security-contract.ts';

testSecurityContract(async (t) => `sqlite:${join(t.testdir(), 'svc.db')}`);
