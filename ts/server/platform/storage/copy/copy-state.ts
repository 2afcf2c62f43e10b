/** How far a copy has come: a table in its target, which is gone when the copy is whole. */
import { bindKysely } from '../bound-kysely.ts';
import type { Engine } from '../engine.ts';
import { hasTable } from '../migrations/applied-migrations.ts';
import { column } from '../migrations/column.ts';
import { MigrationSchema } from '../migrations/migration-schema.ts';
import type { ExecuteStatement, StatementValue } from '../statement.ts';
import { StorageError } from '../storage-error.ts';
import { systemScope } from '../tenant-scope.ts';

const TABLE = 'svc_copy';

interface CopyTables {
  /** One row `source` with the source's id, one row `cleared` when the target's own rows are gone, and one row `table:NAME` for each table. */
  svc_copy: { key: string; value: string };
}

/** A table's progress: the primary key of the last copied row, and how many were copied. */
interface TableProgress {
  readonly after: StatementValue[];
  readonly rows: number;
}

/** Throws for a database that holds a part of another one. */
export async function refuseUnfinishedCopy(engine: Engine): Promise<void> {
  if (!(await isUnfinishedCopy(engine))) return;
  throw new StorageError('copy_unfinished', 'This database is the target of a copy that was not finished.', {
    remedy: 'Run `svc migrate --to` or `svc backup restore --force` again, whichever began it, or empty this database.',
  });
}

export async function isUnfinishedCopy(engine: Engine): Promise<boolean> {
  return await engine.read(systemScope(), async (execute) => await hasTable(engine, execute, TABLE));
}

export async function beginCopyState(engine: Engine, source: string): Promise<void> {
  await engine.exclusive(async (execute) => {
    const schema = new MigrationSchema(engine.dialect, execute);
    await schema.table(TABLE, {
      columns: { key: column.id(), value: column.text() },
      primaryKey: ['key'],
    });
    await schema.settled();
    await putState(engine, execute, 'source', source);
  });
}

/** The copy is whole: the target is a database like any other. */
export async function endCopyState(engine: Engine): Promise<void> {
  await engine.exclusive(async (execute) => {
    const schema = new MigrationSchema(engine.dialect, execute);
    await schema.dropTable(TABLE);
    await schema.settled();
  });
}

/** Forgets the progress, but not whose copy this is. */
export async function resetCopyState(engine: Engine): Promise<void> {
  await engine.write(systemScope(), async (execute) => {
    await bindKysely<CopyTables>(engine.dialect, execute).deleteFrom('svc_copy').where('key', '!=', 'source').execute();
  });
}

export async function findState(engine: Engine, key: string): Promise<string | undefined> {
  return await engine.read(systemScope(), async (execute) => {
    const db = bindKysely<CopyTables>(engine.dialect, execute);
    return (await db.selectFrom('svc_copy').select('value').where('key', '=', key).executeTakeFirst())?.value;
  });
}

/** Part of the transaction that it describes. */
export async function putState(engine: Engine, execute: ExecuteStatement, key: string, value: string): Promise<void> {
  await bindKysely<CopyTables>(engine.dialect, execute)
    .insertInto('svc_copy')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
}

export async function findProgress(engine: Engine, table: string): Promise<TableProgress | undefined> {
  const value = await findState(engine, `table:${table}`);
  return value === undefined ? undefined : (JSON.parse(value, reviveBytes) as TableProgress);
}

export async function putProgress(
  engine: Engine,
  execute: ExecuteStatement,
  table: string,
  progress: TableProgress,
): Promise<void> {
  const after = progress.after.map((value) =>
    value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : value,
  );
  await putState(engine, execute, `table:${table}`, JSON.stringify({ ...progress, after }));
}

function reviveBytes(_key: string, value: unknown): unknown {
  const hex = (value as { hex?: unknown } | null)?.hex;
  return typeof hex === 'string' ? new Uint8Array(Buffer.from(hex, 'hex')) : value;
}
