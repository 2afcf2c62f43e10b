import t from 'tap';
import { testProxy } from './test-support/proxy-contract.ts';
import { missingProxy } from './test-support/running-proxy.ts';

const missing = missingProxy('nginx');
if (missing !== undefined) t.plan(0, missing);
else await testProxy(t, 'nginx');
