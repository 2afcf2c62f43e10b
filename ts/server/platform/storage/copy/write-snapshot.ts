/** A database's state of one moment as a SQLite file. */
import { sql } from 'kysely';
import { bindKysely } from '../bound-kysely.ts';
import type { Engine, ReadableDatabase } from '../engine.ts';
import type { MigrationTables } from '../migrations/applied-migrations.ts';
import type { ModuleMigrations } from '../migrations/migration.ts';
import { migrate } from '../migrations/migration-runner.ts';
import { SqliteEngine } from '../sqlite/sqlite-engine.ts';
import { resolveStorageOptions } from '../storage-options.ts';
import { systemScope } from '../tenant-scope.ts';
import { listTables } from './catalog.ts';
import { checkSameTables } from './same-tables.ts';
import { type Row, readPages } from './table-pages.ts';

/** `path` must not exist. A SQLite file is copied as it is, page by page; of another database, the tables are written anew. */
export async function writeSnapshot(
  engine: Engine,
  path: string,
  modules: readonly ModuleMigrations[],
  signal?: AbortSignal,
): Promise<void> {
  const copied = engine.copyFile(path);
  if (copied !== undefined) return await copied;
  const target = new SqliteEngine(path, resolveStorageOptions({ url: `sqlite:${path}`, modules }));
  await target.connect();
  try {
    await migrate(target, modules);
    await engine.readConsistently(async (execute) => {
      const source: ReadableDatabase = { dialect: engine.dialect, read: (_scope, run) => run(execute) };
      await copyTables(source, target, signal);
    });
  } finally {
    await target.close();
  }
}

async function copyTables(source: ReadableDatabase, target: Engine, signal?: AbortSignal): Promise<void> {
  const tables = await listTables(source);
  checkSameTables(tables, await listTables(target));
  // Migrations may have put rows into new tables, which the source has as well.
  await target.exclusive(async (execute) => {
    const db = bindKysely(target.dialect, execute);
    for (const { name } of tables.toReversed()) await sql`delete from ${sql.table(name)}`.execute(db);
  });
  await copyIdentity(source, target);
  for (const table of tables) {
    for await (const page of readPages(source, table)) {
      signal?.throwIfAborted();
      await insertPage(target, table.name, page);
    }
  }
}

async function insertPage(target: Engine, table: string, page: readonly Row[]): Promise<void> {
  await target.write(systemScope(), async (execute) => {
    const db = bindKysely<Record<string, Row>>(target.dialect, execute);
    await db
      .insertInto(table)
      .values([...page])
      .execute();
  });
}

/** The copy is the same database, not a new one, and says when its migrations were applied: so equal states give equal files. */
async function copyIdentity(source: ReadableDatabase, target: Engine): Promise<void> {
  const { ids, migrations } = await source.read(systemScope(), async (execute) => {
    const db = bindKysely<MigrationTables>(source.dialect, execute);
    const ids = await db.selectFrom('svc_database').selectAll().execute();
    const rows = db.selectFrom('svc_migrations').selectAll().orderBy('module').orderBy('id');
    return { ids, migrations: await rows.execute() };
  });
  await target.exclusive(async (execute) => {
    const db = bindKysely<MigrationTables>(target.dialect, execute);
    await db.deleteFrom('svc_database').execute();
    await db.deleteFrom('svc_migrations').execute();
    await db.insertInto('svc_database').values(ids).execute();
    await db.insertInto('svc_migrations').values(migrations).execute();
  });
}
