import { join } from 'node:path';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { testSecurityContract } from './test-support/security-contract.ts';

testSecurityContract(async (t) => `sqlite:${join(newFolder(t), 'svc.db')}`);
