import t from 'tap';
import { createStorage } from '../create-storage.ts';
import { systemScope, tenantScope } from '../tenant-scope.ts';
import { type NoteTables, notesModule } from '../test-support/notes-module.ts';
import { PostgresCluster } from '../test-support/postgres-cluster.ts';

t.setTimeout(120_000);

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else await testPostgres(await PostgresCluster.startOwn());

async function testPostgres(cluster: PostgresCluster): Promise<void> {
  t.teardown(() => cluster.remove());
  t.test('a store function that forgets its WHERE sees and changes only its tenant’s rows', async (t) => {
    const storage = createStorage({ url: await cluster.newDatabase(), modules: [notesModule] });
    t.teardown(() => storage.close());
    await storage.open();
    const notes = storage.access<NoteTables>();
    for (const tenant of ['red', 'blue'])
      await notes.writeUnit(tenantScope(tenant), (db) => [
        db.insertInto('notes').values({ tenant, id: tenant, text: '', version: 1 }),
      ]);
    const red = tenantScope('red');
    t.strictSame(await notes.read(red, (db) => db.selectFrom('notes').select('id').execute()), [{ id: 'red' }]);
    await notes.writeUnit(red, (db) => [db.updateTable('notes').set({ version: 2 })]);
    const all = await notes.read(systemScope(), (db) => db.selectFrom('notes').select(['id', 'version']).orderBy('id').execute());
    t.strictSame(all, [
      { id: 'blue', version: 1 },
      { id: 'red', version: 2 },
    ]);
    const foreign = notes.writeUnit(red, (db) => [
      db.insertInto('notes').values({ tenant: 'blue', id: 'x', text: '', version: 1 }),
    ]);
    await t.rejects(foreign, { code: 'statement_failed', message: /row-level security/ });
  });

  t.test('nodes that start together on a new database make it once', async (t) => {
    for (let round = 0; round < 5; round += 1) {
      const url = await cluster.newDatabase();
      const nodes = Array.from({ length: 4 }, () => createStorage({ url, modules: [notesModule] }));
      t.teardown(() => Promise.all(nodes.map((node) => node.close())));
      await t.resolves(Promise.all(nodes.map((node) => node.open())));
    }
  });

  t.test('a role for which row-level security does not hold is refused', async (t) => {
    await cluster.query('create role bypasser login bypassrls');
    for (const role of ['admin', 'bypasser']) {
      const storage = createStorage({ url: cluster.url('postgres', role), modules: [] });
      await t.rejects(storage.open(), { code: 'role_bypasses_rls', remedy: /NOBYPASSRLS/ }, role);
    }
  });
}
