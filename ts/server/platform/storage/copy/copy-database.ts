/** Moves a whole database to another one, of the same kind or the other. */
import { sql } from 'kysely';
import { bindKysely } from '../bound-kysely.ts';
import { createEngine } from '../create-storage.ts';
import type { Engine } from '../engine.ts';
import { readDatabaseId } from '../migrations/applied-migrations.ts';
import { migrate } from '../migrations/migration-runner.ts';
import { StorageError } from '../storage-error.ts';
import type { StorageOptions } from '../storage-options.ts';
import { systemScope } from '../tenant-scope.ts';
import { type CatalogTable, listTables } from './catalog.ts';
import {
  beginCopyState,
  endCopyState,
  findProgress,
  findState,
  isUnfinishedCopy,
  putProgress,
  putState,
  refuseUnfinishedCopy,
  resetCopyState,
} from './copy-state.ts';
import { checkSameTables } from './same-tables.ts';
import { digestTable, type TableDigest } from './table-digest.ts';
import { keyOf, type Row, readPages } from './table-pages.ts';

export interface CopyProgress {
  readonly phase: 'copy' | 'verify';
  readonly table: string;
  /** Rows of this table that are copied. */
  readonly rows: number;
  readonly tablesDone: number;
  readonly tables: number;
}

export interface CopyOptions {
  onProgress?(progress: CopyProgress): void;
  /** Stops between two pages; the copy can be resumed. */
  signal?: AbortSignal;
  /** Once all is copied and compared, before the target can be worked with: what fails here leaves an unfinished copy, which nobody serves. */
  beforeUse?(): Promise<void>;
}

export type CopiedTable = TableDigest & { readonly name: string };

/**
 * Copies all tables of all modules, then compares a checksum of each. The source must not be written meanwhile. When it is interrupted, a
 * second call goes on where the first one was. Throws a StorageError `copy_refused` for a target that has rows of its own, and
 * `copy_differs` when source and target are not the same in the end.
 */
export async function copyDatabase(from: StorageOptions, to: StorageOptions, options: CopyOptions = {}): Promise<CopiedTable[]> {
  const source = createEngine(from);
  const target = createEngine(to);
  if (!(await source.exists())) throw refused('The database to copy from does not exist.', 'Check the URL or the path.');
  await source.connect();
  try {
    await target.connect();
    try {
      return await copyBetween(source, target, from.modules, options);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function copyBetween(
  source: Engine,
  target: Engine,
  modules: StorageOptions['modules'],
  options: CopyOptions,
): Promise<CopiedTable[]> {
  await refuseUnfinishedCopy(source);
  await migrate(source, modules);
  await claimTarget(target, await readDatabaseId(source));
  await migrate(target, modules);
  const tables = await listTables(source);
  checkSameTables(tables, await listTables(target));
  await clearTarget(target, tables);
  for (const table of tables) await copyTable(source, target, table, (rows) => report('copy', table, rows));
  const copied: CopiedTable[] = [];
  for (const table of tables) {
    copied.push(await compareTable(source, target, table, options.signal));
    report('verify', table, copied.at(-1)?.rows ?? 0);
  }
  await continueIdentities(target, tables);
  await options.beforeUse?.();
  await endCopyState(target);
  return copied;

  function report(phase: CopyProgress['phase'], table: CatalogTable, rows: number): void {
    options.onProgress?.({ phase, table: table.name, rows, tablesDone: tables.indexOf(table), tables: tables.length });
    options.signal?.throwIfAborted();
  }
}

/** Marks an empty target as this source's copy, before anything is created there. */
async function claimTarget(target: Engine, sourceId: string): Promise<void> {
  if (await isUnfinishedCopy(target)) {
    if ((await findState(target, 'source')) === sourceId) return;
    throw refused('The target holds an unfinished copy of another database.', 'Empty it, or finish that copy.');
  }
  for (const { name } of await listTables(target))
    if (await hasRows(target, name)) throw refused(`The target is not empty: table ${name} has rows.`, 'Name an empty database.');
  await beginCopyState(target, sourceId);
}

async function hasRows(engine: Engine, table: string): Promise<boolean> {
  const query = sql`select 1 from ${sql.table(table)} limit 1`;
  return await engine.read(
    systemScope(),
    async (execute) => (await query.execute(bindKysely(engine.dialect, execute))).rows.length > 0,
  );
}

/** Migrations may have put rows into new tables, which the source has as well. */
async function clearTarget(target: Engine, tables: readonly CatalogTable[]): Promise<void> {
  if ((await findState(target, 'cleared')) !== undefined) return;
  await target.exclusive(async (execute) => {
    const db = bindKysely(target.dialect, execute);
    for (const { name } of tables.toReversed()) await sql`delete from ${sql.table(name)}`.execute(db);
    await putState(target, execute, 'cleared', 'yes');
  });
}

async function copyTable(source: Engine, target: Engine, table: CatalogTable, report: (rows: number) => void): Promise<void> {
  const progress = await findProgress(target, table.name);
  let rows = progress?.rows ?? 0;
  for await (const page of readPages(source, table, progress?.after)) {
    rows += page.length;
    await insertPage(target, table, page, rows);
    report(rows);
  }
}

/** The rows and the progress are one transaction, so a row is copied once wherever the copy was interrupted. */
async function insertPage(target: Engine, table: CatalogTable, page: readonly Row[], rows: number): Promise<void> {
  const last = page.at(-1);
  if (!last) return;
  await target.write(systemScope(), async (execute) => {
    const db = bindKysely<Record<string, Row>>(target.dialect, execute);
    await db
      .insertInto(table.name)
      .values([...page])
      .execute();
    await putProgress(target, execute, table.name, { after: keyOf(table, last), rows });
  });
}

async function compareTable(source: Engine, target: Engine, table: CatalogTable, signal?: AbortSignal): Promise<CopiedTable> {
  const [expected, copied] = await Promise.all([digestTable(source, table, signal), digestTable(target, table, signal)]);
  if (expected.sha256 === copied.sha256) return { name: table.name, ...copied };
  await resetCopyState(target);
  throw new StorageError(
    'copy_differs',
    `Table ${table.name} differs after the copy: ${expected.rows} rows in the source, ${copied.rows} in the target.`,
    { remedy: 'Stop everything that writes to the source, and run the copy again: it starts anew.' },
  );
}

/** PostgreSQL counts identities apart from the rows, so it is told where the copied ones end; SQLite sees that by itself. */
async function continueIdentities(target: Engine, tables: readonly CatalogTable[]): Promise<void> {
  if (target.dialect === 'sqlite') return;
  await target.exclusive(async (execute) => {
    const db = bindKysely(target.dialect, execute);
    for (const { name, primaryKey } of tables) {
      const [column, ...others] = primaryKey;
      if (column === undefined || others.length > 0) continue;
      const sequence = sql`pg_get_serial_sequence(quote_ident(${name}::text), ${column}::text)`;
      const { rows } = await sql<{ sequence: string | null }>`select ${sequence} as sequence`.execute(db);
      if (rows[0]?.sequence)
        await sql`select setval(${rows[0].sequence}::regclass, max(${sql.ref(column)})) from ${sql.table(name)}`.execute(db);
    }
  });
}

function refused(message: string, remedy: string): StorageError {
  return new StorageError('copy_refused', message, { remedy });
}
