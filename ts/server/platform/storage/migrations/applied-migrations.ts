/** The table of migrations that were applied to a database. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { bindKysely } from '../bound-kysely.ts';
import type { Engine } from '../engine.ts';
import type { ExecuteStatement } from '../statement.ts';
import { systemScope } from '../tenant-scope.ts';
import { column } from './column.ts';
import type { PendingMigration } from './migration-plan.ts';
import { MigrationSchema } from './migration-schema.ts';

export interface MigrationTables {
  /** One row `id`, which tells this database from any other. */
  svc_database: { key: string; value: string };
  svc_migrations: { module: string; id: number; name: string; applied_at: number };
}

export type AppliedMigration = PendingMigration;

/** Empty for a database that was never migrated. Changes nothing. */
export async function listApplied(engine: Engine): Promise<AppliedMigration[]> {
  return await engine.read(systemScope(), async (execute) =>
    (await hasTable(engine, execute, 'svc_migrations')) ? await selectApplied(engine, execute) : [],
  );
}

export async function selectApplied(engine: Engine, execute: ExecuteStatement): Promise<AppliedMigration[]> {
  const db = bindKysely<MigrationTables>(engine.dialect, execute);
  return await db.selectFrom('svc_migrations').select(['module', 'id', 'name']).orderBy('module').orderBy('id').execute();
}

export async function ensureMigrationTable(engine: Engine): Promise<void> {
  await engine.exclusive(async (execute) => {
    if (await hasTable(engine, execute, 'svc_migrations')) return;
    const schema = new MigrationSchema(engine.dialect, execute);
    await schema.table('svc_migrations', {
      columns: { module: column.id(), id: column.integer(), name: column.text(), applied_at: column.timestamp() },
      primaryKey: ['module', 'id'],
    });
    await schema.table('svc_database', { columns: { key: column.id(), value: column.text() }, primaryKey: ['key'] });
    await schema.settled();
    await schema.db<MigrationTables>().insertInto('svc_database').values({ key: 'id', value: randomUUID() }).execute();
  });
}

/** The id of a database that was migrated. */
export async function readDatabaseId(engine: Engine): Promise<string> {
  return await engine.read(systemScope(), async (execute) => {
    const db = bindKysely<MigrationTables>(engine.dialect, execute);
    return (await db.selectFrom('svc_database').select('value').where('key', '=', 'id').executeTakeFirstOrThrow()).value;
  });
}

/** Reads the catalog as a table: to_regclass() may answer from a cache that is older than the lock which the caller waited for. */
export async function hasTable(engine: Engine, execute: ExecuteStatement, name: string): Promise<boolean> {
  const db = bindKysely<unknown>(engine.dialect, execute);
  const query =
    engine.dialect === 'sqlite'
      ? sql`select 1 as found from sqlite_schema where type = 'table' and name = ${name}`
      : sql`select 1 as found from pg_catalog.pg_class where relname = ${name} and pg_catalog.pg_table_is_visible(oid)`;
  return (await query.execute(db)).rows.length > 0;
}
