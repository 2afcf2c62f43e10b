/** What modules see of the database, whichever it is. */
import type { Compilable, Kysely } from 'kysely';
import type { DialectName } from './bound-kysely.ts';
import type { MigrationPlan } from './migrations/migration-plan.ts';
import type { NotificationHandlers, NotificationListener } from './notifications.ts';
import type { StatementResult } from './statement.ts';
import type { StorageError } from './storage-error.ts';
import type { StorageScope } from './tenant-scope.ts';

/** Reads and writes of one module, typed by its tables. A write that resolved is on disk. */
export interface StorageAccess<Tables> {
  readonly dialect: DialectName;
  /** Runs queries that all see the same state of the database. */
  read<T>(scope: StorageScope, run: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
  /**
   * Runs an interactive transaction, for what must be read before it can be written. It behaves as if all writes ran one after another. On
   * PostgreSQL the callback may run several times, so it must do nothing but query; on SQLite no other write proceeds until it returns,
   * so it must wait for nothing else.
   */
  write<T>(scope: StorageScope, run: (tx: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** Runs statements that are known beforehand as one transaction: the quick way to write. Results come in the statements' order. */
  writeUnit(scope: StorageScope, build: (db: Kysely<Tables>) => readonly Compilable[]): Promise<StatementResult[]>;
}

/** The database of the process. Failures are StorageErrors. */
export interface Storage {
  readonly dialect: DialectName;
  /** Path of the SQLite database; undefined: it is another. */
  readonly file: string | undefined;
  /** Connects, migrates, and starts to serve. Throws with a remedy when it cannot. */
  open(): Promise<void>;
  /** Waits for what runs, then closes. Idempotent. */
  close(): Promise<void>;
  access<Tables>(): StorageAccess<Tables>;
  /** Hears what any process on the database sends on a channel; undefined on SQLite, where there is no other. */
  listen(channel: string, handlers: NotificationHandlers): NotificationListener | undefined;
  /** Says what `open()` would migrate, and changes nothing. Works on a storage that was not opened. */
  planMigrations(): Promise<MigrationPlan>;
  /** Throws a StorageError for a SQLite file that this program could not open in the place of its database. Changes nothing. */
  admit(file: string): Promise<void>;
  /** Writes the database as it is now into a new SQLite file, whichever database it is, while reads and writes go on. */
  snapshot(path: string, signal?: AbortSignal): Promise<void>;
  /** Reads the whole database, which may take long: what is damaged, as a StorageError `database_damaged`. On SQLite alone. */
  findDamage(): Promise<StorageError | undefined>;
  /** Has each commit counted from now on, in the database itself, but for those that change transient rows alone (ModuleMigrations). */
  countCommits(): Promise<void>;
  /** The number of the last commit; 0 where none is counted. */
  commitNumber(): Promise<number>;
  /** Refuses every write from now on, with this error: another database has taken the place of this one. */
  fence(error: StorageError): void;
  /** The error that stopped writes, until the database works again. */
  ioError(): StorageError | undefined;
  /** Why the server cannot work now, as a sentence for /readyz; undefined when it can. */
  notReady(): string | undefined;
}
