import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createStorage } from '../create-storage.ts';
import type { Migration } from '../migrations/migration.ts';
import { tenantScope } from '../tenant-scope.ts';
import { type NoteTables, notesModule } from '../test-support/notes-module.ts';

t.setTimeout(120_000);
const red = tenantScope('red');
const older = { ...notesModule, migrations: notesModule.migrations.slice(0, 1) };

async function databaseWithANote(t: Test): Promise<{ folder: string; file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-backup-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'svc.sqlite');
  const storage = createStorage({ url: `sqlite:${file}`, modules: [older] });
  await storage.open();
  await storage
    .access<NoteTables>()
    .writeUnit(red, (db) => [db.insertInto('notes').values({ tenant: 'red', id: 'a', text: 'kept', version: 1 })]);
  await storage.close();
  return { folder, file };
}

t.test('before the first migration of a database with data, a backup is made that opens by itself', async (t) => {
  const { folder, file } = await databaseWithANote(t);
  const storage = createStorage({ url: `sqlite:${file}`, modules: [notesModule] });
  const backup = `${file}.pre-notes-2.bak`;
  t.equal((await storage.planMigrations()).backupPath, backup);
  t.notOk(existsSync(backup), 'planning changes nothing');
  await storage.open();
  await storage.close();
  t.strictSame(readdirSync(folder).sort(), ['svc.sqlite', 'svc.sqlite.pre-notes-2.bak']);
  const restored = createStorage({ url: `sqlite:${backup}`, modules: [older] });
  t.teardown(() => restored.close());
  await restored.open();
  const rows = await restored.access<NoteTables>().read(red, (db) => db.selectFrom('notes').select('text').execute());
  t.strictSame(rows, [{ text: 'kept' }]);
});

t.test('a migration may say how the backup before it is called', async (t) => {
  const { folder, file } = await databaseWithANote(t);
  const named = { id: 1, name: 'step', backup: 'slot-pk', up: async () => undefined };
  const storage = createStorage({ url: `sqlite:${file}`, modules: [notesModule, { module: 'other', migrations: [named] }] });
  const backup = `${file}.pre-slot-pk.bak`;
  t.equal((await storage.planMigrations()).backupPath, backup);
  await storage.open();
  await storage.close();
  t.strictSame(readdirSync(folder).sort(), ['svc.sqlite', 'svc.sqlite.pre-slot-pk.bak']);
});

t.test('a new database and one without pending migrations get no backup', async (t) => {
  const { folder, file } = await databaseWithANote(t);
  const storage = createStorage({ url: `sqlite:${file}`, modules: [older] });
  await storage.open();
  await storage.close();
  t.strictSame(readdirSync(folder), ['svc.sqlite']);
});

t.test('a plan for a database that does not exist creates nothing', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-backup-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const storage = createStorage({ url: `sqlite:${join(folder, 'new', 'svc.sqlite')}`, modules: [notesModule] });
  t.strictSame(
    (await storage.planMigrations()).pending.map(({ id }) => id),
    [1, 2],
  );
  t.strictSame(readdirSync(folder), []);
});

t.test('two processes’ worth of storages that migrate at once apply each migration once', async (t) => {
  const { file } = await databaseWithANote(t);
  const storages = [1, 2].map(() => createStorage({ url: `sqlite:${file}`, modules: [notesModule] }));
  t.teardown(() => Promise.all(storages.map((storage) => storage.close())));
  await Promise.all(storages.map((storage) => storage.open()));
  t.strictSame((await storages[0]?.planMigrations())?.pending, []);
});

t.test('wrong lists of migrations are refused with what is wrong', async (t) => {
  const { file } = await databaseWithANote(t);
  const step = (id: number, up: Migration['up'] = async () => undefined): Migration => ({ id, name: 'step', up });
  const open = (migrations: Migration[], module = 'other') =>
    createStorage({ url: `sqlite:${file}`, modules: [older, { module, migrations }] }).open();
  await t.rejects(open([step(2)]), { code: 'invalid_migration', message: /migration 1 of module other has the number 2/ });
  await t.rejects(open([], 'notes'), { code: 'invalid_migration', message: /listed twice/ });
  await t.rejects(open([], 'Bad name'), { code: 'invalid_migration' });
  const badTable = step(1, (schema) => schema.table('Bad"name', { columns: {}, primaryKey: [] }));
  await t.rejects(open([badTable]), { code: 'invalid_migration', message: /no name for a table/ });
  await t.rejects(open([step(1, (schema) => schema.table('keyless', { columns: {} }))]), { message: /no primary key/ });
});
