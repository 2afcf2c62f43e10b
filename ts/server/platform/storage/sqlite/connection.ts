/** One connection of a SQLite thread: its settings, and its prepared statements. */
import Database from 'better-sqlite3';
import type { Statement, StatementResult, StatementValue } from '../statement.ts';

export const BUSY_TIMEOUT_MS = 5_000;
const MAX_PREPARED = 256;
const COUNT_COMMIT = "update svc_database set value = cast(cast(value as integer) + 1 as text) where key = 'commits'";

/** The table that a statement writes to, and the column where it sets a single one, as Kysely compiles them. */
const TARGET = /^(?:insert into|update|delete from) "(\w+)"(?: set "(\w+)" = \? where )?/;

const COMMON = [
  'foreign_keys = ON',
  // Functions with side effects cannot be called from a schema that somebody else wrote.
  'trusted_schema = OFF',
  // An I/O error on a memory map is a signal that ends the process; on a read it is an error.
  'mmap_size = 0',
  'cell_size_check = ON',
];

export class Connection {
  readonly database: Database.Database;
  readonly #prepared = new Map<string, Database.Statement>();
  readonly #transient: ReadonlySet<string>;
  /** Something was changed since the last commit that a copy of the database needs. */
  #hasNews = false;

  constructor(database: Database.Database, transient: readonly string[] = []) {
    this.database = database;
    this.#transient = new Set(transient);
  }

  static openWriter(file: string, transient: readonly string[] = []): Connection {
    const database = new Database(file, { timeout: BUSY_TIMEOUT_MS });
    // What is deleted is overwritten with zeros, so that no free page holds what a user erased.
    database.pragma('secure_delete = ON');
    // Checkpoints are run by the writer, which sees their errors: SQLite hides those of automatic ones.
    for (const setting of ['journal_mode = WAL', 'synchronous = FULL', 'wal_autocheckpoint = 0', ...COMMON])
      database.pragma(setting);
    return new Connection(database, transient);
  }

  static openReader(file: string): Connection {
    const database = new Database(file, { timeout: BUSY_TIMEOUT_MS, readonly: true, fileMustExist: true });
    for (const setting of COMMON) database.pragma(setting);
    return new Connection(database);
  }

  run({ sql, parameters }: Statement): StatementResult {
    const prepared = this.#prepare(sql);
    const values = parameters.map(toBound);
    const rows = prepared.reader ? (prepared.all(values) as StatementResult['rows']) : [];
    const nWritten = prepared.reader ? rows.length : prepared.run(values).changes;
    const affectedRows = prepared.readonly ? 0 : nWritten;
    this.#hasNews ||= affectedRows > 0 && this.#isNews(sql);
    return { rows, affectedRows };
  }

  /** Runs a statement without parameters or rows. */
  control(sql: string): void {
    this.#prepare(sql).run();
  }

  /** Counts the commit that is about to be made, where that was asked for (`Storage.countCommits`) and it has news. */
  countCommit(): void {
    if (!this.#hasNews) return;
    this.#hasNews = false;
    try {
      this.control(COUNT_COMMIT);
    } catch (error) {
      // Before the first migration there is no such table.
      if (!/no such table/.test((error as Error).message)) throw error;
    }
  }

  close(): void {
    this.#prepared.clear();
    this.database.close();
  }

  #isNews(sql: string): boolean {
    if (sql.startsWith('PRAGMA')) return false;
    const [, table = '', column = ''] = TARGET.exec(sql) ?? [];
    return !this.#transient.has(table) && !this.#transient.has(`${table}.${column}`);
  }

  #prepare(sql: string): Database.Statement {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const prepared = this.database.prepare(sql);
    // The oldest goes: the texts of a program are few, and only generated ones (long IN lists) pass by.
    const [oldest] = this.#prepared.keys();
    if (this.#prepared.size >= MAX_PREPARED && oldest !== undefined) this.#prepared.delete(oldest);
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

/** better-sqlite3 binds every number as a float, which makes `?/2` another thing than on PostgreSQL; a BigInt is bound as an integer. */
function toBound(value: StatementValue): StatementValue {
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}
