import t from 'tap';
import type { TenantRow } from '../tables.ts';
import type { TenantStore } from './tenant-store.ts';
import { Tenants } from './tenants.ts';

t.test('of reads at the same time, the one that began last holds', async (t) => {
  const answers: ((rows: Partial<TenantRow>[]) => void)[] = [];
  const store = { all: () => new Promise((resolve) => answers.push(resolve as never)) } as unknown as TenantStore;
  const authentication = { state: 'enforce' } as const;
  const tenants = new Tenants({ kinds: [], store, authentication, onRemoved: () => {}, ownersOf: async () => [] });
  const [early, late] = [tenants.refresh(), tenants.refresh()];
  answers[1]?.([{ id: 'new', priority: 1, access: '{}' }]);
  await late;
  answers[0]?.([]);
  await early;
  t.equal(tenants.allowsPriority('new'), true);
});
