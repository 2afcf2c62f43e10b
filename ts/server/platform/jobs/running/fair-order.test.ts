import t from 'tap';
import { inFairOrder } from './job-scheduler.ts';

const head = (tenant: string, running: number, runAfter = 0) => ({ tenant, id: tenant, kind: 'test.a', running, runAfter });
const tenants = (heads: { tenant: string }[]) => heads.map(({ tenant }) => tenant).join('');

t.test('the tenant that runs least comes first', async (t) => {
  t.equal(tenants(inFairOrder([head('a', 2), head('b', 0), head('c', 1)], new Map())), 'bca');
});

t.test('among equals, the one whose last start is longest ago; then the one that has waited longest', async (t) => {
  const lastStarts = new Map([
    ['a', 3],
    ['b', 1],
  ]);
  const heads = [head('a', 0, 1), head('b', 0, 2), head('c', 0, 9), head('d', 0, 8)];
  t.equal(tenants(inFairOrder(heads, lastStarts)), 'dcba');
});
