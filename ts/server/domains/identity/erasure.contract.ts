/** Each node erases what lies on it alone of deleted tenants and accounts, on both databases. */
import type { Test } from 'tap';
import { until } from '../../platform/jobs/test-support/open-jobs.ts';
import type { Owner } from '../../platform/module/belongings.ts';
import { type Dialect, type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { type IdentityBed, openIdentity } from './test-support/identity-bed.ts';

const users = '/api/v1/identity/users';
const tenants = '/api/v1/identity/tenants';

/** A module that has something of these on the node. */
function holder(name: string, held: { readonly tenants: readonly string[]; readonly accounts: readonly string[] }) {
  const here = { tenants: new Set(held.tenants), accounts: new Set(held.accounts) };
  const owner: Owner = {
    name,
    belongings: {
      heldHere: async () => ({ tenants: [...here.tenants], accounts: [...here.accounts] }),
      eraseTenant: async ({ tenant }) => void here.tenants.delete(tenant),
      eraseAccount: async (_, id) => void here.accounts.delete(id),
    },
  };
  return { owner, left: () => [...here.tenants, ...here.accounts] };
}

async function makeAccount(bed: IdentityBed, as: string, username: string): Promise<string> {
  return (await bed.ask('POST', users, { as, body: { username, role: 'viewer', tenant: 'default' } })).body.id;
}

function testErasure(t: Test, newDatabase: NewDatabase, dialect: Dialect): void {
  t.test('a node that runs and one that comes later erase what deleted ones left there', async (t) => {
    const databaseUrl = await newUrl(t, newDatabase);
    const open = () => openIdentity(t, { databaseUrl, overrides: { sweepMs: 10 } });
    const here = await open();
    const root = await here.makeRoot();
    const [gone, stays] = [await makeAccount(here, root, 'ann'), await makeAccount(here, root, 'bob')];
    const made = await here.ask('POST', tenants, { as: root, body: { id: 'red', name: 'Red' } });
    t.equal(made.status, 201);
    const held = { tenants: ['red', 'default', '../x'], accounts: [gone, stays, 'never-was'] };
    const first = holder('first', held);
    const failing: Owner = {
      name: 'failing',
      belongings: { eraseTenant: async () => {}, heldHere: () => Promise.reject(new Error('the disk is gone')) },
    };
    here.module.api.connectOwners([failing, first.owner]);
    t.equal((await here.ask('DELETE', `${users}/${gone}`, { as: root })).status, 204);
    t.equal((await here.ask('DELETE', `${tenants}/red?force=true`, { as: root })).status, 204);
    const kept = ['default', '../x', stays, 'never-was'];
    const isDone = (left: readonly string[]) => left.length <= kept.length;
    t.strictSame(await until(first.left, isDone), kept, 'those that are there, and those that never were, keep theirs');
    const later = holder('later', held);
    // Only one process has a file of SQLite.
    const there = dialect === 'sqlite' ? here : await open();
    there.module.api.connectOwners([later.owner]);
    t.strictSame(await until(later.left, isDone), kept, 'another node finds it out by itself');
  });
}

onEachDatabase(testErasure);
