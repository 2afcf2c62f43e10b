/** Entry of the thread that copies or inspects one database file. */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import type {
  SnapshotInspection,
  SnapshotKeys,
  SnapshotResult,
  SnapshotTask,
} from '../server/platform/storage/sqlite/snapshot-thread.ts';

const task = workerData as SnapshotTask;

try {
  if (task.kind === 'copy') await copy(task.file, task.to);
  answer(task.kind === 'inspect' ? { inspection: inspect(task) } : task.kind === 'check' ? { problems: check(task.file) } : {});
} catch (error) {
  const { message, code } = error as { message: string; code?: unknown };
  answer({ error: { message, code: String(code ?? '') } });
}

function answer(result: SnapshotResult): void {
  parentPort?.postMessage(result);
}

async function copy(file: string, to: string): Promise<void> {
  const database = new Database(file, { readonly: true, fileMustExist: true });
  try {
    // SQLite takes an empty file for a new database, and its mode is then ours.
    closeSync(openSync(to, 'wx', 0o600));
    // All pages in one step: between two steps another connection's commit would begin the copy anew, for ever under load. In WAL mode
    // the step's read transaction holds up no writer.
    await database.backup(to, { progress: () => 2 ** 31 - 1 });
  } finally {
    database.close();
  }
  const fd = openSync(to, 'r');
  fsyncSync(fd);
  closeSync(fd);
}

/** The pages of the schema and the free ones, then those of each table and its indexes. */
function check(file: string): string[] {
  try {
    const database = new Database(file, { readonly: true, fileMustExist: true });
    try {
      database.pragma('trusted_schema = OFF');
      database.pragma('cell_size_check = ON');
      const names = database
        .prepare("select name from sqlite_schema where type = 'table' order by name")
        .pluck()
        .all() as string[];
      return ['sqlite_schema', ...names].flatMap((name) => checkTable(database, name));
    } finally {
      database.close();
    }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(code ?? '')) return [message];
    throw error;
  }
}

/** At most one for a table: what follows the first fault is mostly its consequence. */
function checkTable(database: Database.Database, name: string): string[] {
  try {
    const found = database
      .prepare(`PRAGMA quick_check(${quoted(name)})`)
      .pluck()
      .all() as string[];
    return found
      .filter((text) => text !== 'ok')
      .slice(0, 1)
      .map((text) => `table ${name}: ${text.replace(/^[*].*\n/, '')}`);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(code ?? '')) return [`table ${name}: ${message}`];
    throw error;
  }
}

function inspect({ file, keys, isProved }: Extract<SnapshotTask, { kind: 'inspect' }>): SnapshotInspection {
  const database = new Database(file, { readonly: true, fileMustExist: true });
  try {
    // The file may come from anywhere: nothing that its schema says is run.
    database.pragma('trusted_schema = OFF');
    database.pragma('cell_size_check = ON');
    const found = isProved ? [] : (database.pragma('integrity_check(20)') as { integrity_check: string }[]);
    const names = database.prepare("select name from sqlite_schema where type = 'table' order by name").pluck().all() as string[];
    const count = (name: string): number =>
      database
        .prepare(`select count(*) from ${quoted(name)}`)
        .pluck()
        .get() as number;
    return {
      problems: found.map((row) => row.integrity_check).filter((text) => text !== 'ok'),
      tables: isProved ? {} : Object.fromEntries(names.map((name) => [name, count(name)])),
      keys: keys.map((wanted) => (names.includes(wanted.table) ? readKeys(database, wanted, names) : [])),
    };
  } finally {
    database.close();
  }
}

function readKeys(database: Database.Database, { table, columns, unless }: SnapshotKeys, names: readonly string[]): string[][] {
  const list = columns.map(quoted).join(', ');
  const same = columns.map((column) => `${quoted(unless)}.${quoted(column)} = ${quoted(table)}.${quoted(column)}`).join(' and ');
  const except = names.includes(unless) ? ` where not exists (select 1 from ${quoted(unless)} where ${same})` : '';
  const rows = database
    .prepare(`select ${list} from ${quoted(table)}${except}`)
    .raw()
    .all() as unknown[][];
  return rows.map((values) => values.map(String));
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
