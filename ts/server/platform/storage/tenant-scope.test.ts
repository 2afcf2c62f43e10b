import t from 'tap';
import { isSystemScope, systemScope, tenantScope } from './tenant-scope.ts';

t.test('a tenant’s scope names it, and only the system’s is of all tenants', async (t) => {
  t.equal(tenantScope('acme-1').tenant, 'acme-1');
  t.notOk(isSystemScope(tenantScope('acme-1')));
  t.ok(isSystemScope(systemScope()));
});

t.test('what could be mistaken for another setting is no tenant', async (t) => {
  for (const name of ['', '*', ' red', "a'b", 'a\0', 'ü', '.hidden', 'x'.repeat(129)])
    t.throws(() => tenantScope(name), RangeError, name);
});

t.test('scopes cannot be made by hand', async (t) => {
  // @ts-expect-error -- the brand is a symbol that only this file's subject has.
  const forged: Parameters<typeof isSystemScope>[0] = { tenant: 'red' };
  t.notOk(isSystemScope(forged));
});
