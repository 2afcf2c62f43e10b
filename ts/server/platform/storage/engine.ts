/** What `Storage` needs of a database. Two things implement it: sqlite/ and postgres/. */
import type { DialectName } from './bound-kysely.ts';
import type { NotificationHandlers, NotificationListener } from './notifications.ts';
import type { ExecuteStatement, Statement, StatementResult } from './statement.ts';
import type { StorageError } from './storage-error.ts';
import type { StorageScope } from './tenant-scope.ts';

/** What copying needs of a database that it reads. */
export type ReadableDatabase = Pick<Engine, 'dialect' | 'read'>;

export interface Engine {
  readonly dialect: DialectName;
  connect(): Promise<void>;
  close(): Promise<void>;
  read<T>(scope: StorageScope, run: (execute: ExecuteStatement) => Promise<T>): Promise<T>;
  write<T>(scope: StorageScope, run: (execute: ExecuteStatement) => Promise<T>): Promise<T>;
  writeUnit(scope: StorageScope, statements: readonly Statement[]): Promise<StatementResult[]>;
  /** A transaction for all tenants that no other of its kind, in any process, runs beside. It has no time limit. */
  exclusive<T>(run: (execute: ExecuteStatement) => Promise<T>): Promise<T>;
  /** Whether there is a database to look into; without one `connect()` would create it. */
  exists(): Promise<boolean>;
  /** Where `backup(label)` would write, or undefined where the operator makes backups. */
  backupPath(label: string): string | undefined;
  /** Copies the database to `backupPath(label)`. */
  backup(label: string): Promise<void>;
  /** Copies the database as it is now into a new SQLite file while writes go on; undefined where the database is no file. */
  copyFile(path: string): Promise<void> | undefined;
  /** What is wrong with the file of the database; undefined where the database is no file. */
  findDamage(): Promise<StorageError | undefined>;
  /** Runs reads that all see the database as it was at the first of them, however long they take. */
  readConsistently<T>(run: (execute: ExecuteStatement) => Promise<T>): Promise<T>;
  /** Undefined where no other process uses the database. */
  listen(channel: string, handlers: NotificationHandlers): NotificationListener | undefined;
  ioError(): StorageError | undefined;
  notReady(): string | undefined;
}
