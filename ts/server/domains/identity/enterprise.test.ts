import t from 'tap';
import { testEnterprise } from './test-support/enterprise-contract.ts';
import { openIdentity } from './test-support/identity-bed.ts';

t.test('on SQLite', async (t) => testEnterprise(t, (t) => openIdentity(t)));
