/** SQLite behind the Engine interface: its threads on one file, and what happens when the disk fails. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { databaseDamaged } from '../database-damage.ts';
import type { Engine } from '../engine.ts';
import { Recovery } from '../recovery.ts';
import type { ExecuteStatement, Statement, StatementResult } from '../statement.ts';
import { StorageError } from '../storage-error.ts';
import type { ResolvedStorageOptions } from '../storage-options.ts';
import { type StorageScope, tenantOf } from '../tenant-scope.ts';
import { copySnapshot, findProblems } from './snapshot-thread.ts';
import { SqliteThreads } from './sqlite-threads.ts';
import type { CommitEvent } from './thread-messages.ts';

export class SqliteEngine implements Engine {
  readonly dialect = 'sqlite';
  readonly file: string;
  readonly #options: ResolvedStorageOptions;
  #recovery: Recovery;
  #threads: SqliteThreads | undefined;
  #isOpen = false;

  constructor(file: string, options: ResolvedStorageOptions) {
    this.file = file;
    this.#options = options;
    this.#recovery = this.#newRecovery();
  }

  async connect(): Promise<void> {
    createDatabaseFile(this.file);
    this.#recovery = this.#newRecovery();
    const listener = {
      onBroken: (error: StorageError) => this.#onBroken(error),
      onCommit: (commit: CommitEvent) => this.#options.observer.onCommit?.(commit),
    };
    this.#threads = await SqliteThreads.open(this.file, listener, {
      spare: this.#options.spareThreads,
      transient: this.#options.modules.flatMap(({ transient = [] }) => transient),
    });
    this.#isOpen = true;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#recovery.stop();
    const threads = this.#threads;
    this.#threads = undefined;
    await threads?.close(this.#recovery.error !== undefined);
  }

  /** Reads go on while writes are stopped: a full disk can still be read. */
  async read<T>(scope: StorageScope, run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    return await this.#opened().read(tenantOf(scope), this.#options.transactionTimeoutMs, run);
  }

  async write<T>(_scope: StorageScope, run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    return await this.#writable().write({ exclusive: false, limitMs: this.#options.transactionTimeoutMs }, run);
  }

  async writeUnit(scope: StorageScope, statements: readonly Statement[]): Promise<StatementResult[]> {
    return await this.#writable().writeUnit(tenantOf(scope), statements);
  }

  async exclusive<T>(run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    return await this.#writable().write({ exclusive: true }, run);
  }

  async exists(): Promise<boolean> {
    return existsSync(this.file);
  }

  backupPath(label: string): string {
    return `${this.file}.${label}.bak`;
  }

  async backup(label: string): Promise<void> {
    await this.#writable().backup(this.backupPath(label));
  }

  copyFile(path: string): Promise<void> {
    return copySnapshot(this.file, path);
  }

  async findDamage(): Promise<StorageError | undefined> {
    if (!(await this.exists())) return undefined;
    const problems = await findProblems(this.file);
    return problems.length === 0 ? undefined : databaseDamaged(this.file, problems);
  }

  async readConsistently<T>(run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    return await this.#opened().read(undefined, undefined, run);
  }

  /** One process works on a data folder: there is nobody to hear of. */
  listen(): undefined {
    return undefined;
  }

  ioError(): StorageError | undefined {
    return this.#recovery.error;
  }

  notReady(): string | undefined {
    if (!this.#isOpen) return 'The database is not open.';
    return this.#recovery.error?.message;
  }

  #onBroken(error: StorageError): void {
    if (this.#isOpen) this.#recovery.begin(error);
  }

  #newRecovery(): Recovery {
    return new Recovery(this.#options, async () => await this.#opened().reopen());
  }

  #writable(): SqliteThreads {
    this.#recovery.check();
    return this.#opened();
  }

  #opened(): SqliteThreads {
    if (this.#threads) return this.#threads;
    throw new StorageError('storage_closed', 'The database is not open.', {
      remedy: 'Call open() first, and nothing after close().',
    });
  }
}

/**
 * Creates an empty file that only its owner can read; SQLite gives the log beside it the same mode. An existing file is not opened: closing
 * any descriptor of it would drop the locks that SQLite holds on it in this process (fcntl(2)).
 */
export function createDatabaseFile(file: string): void {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true });
  if (existsSync(file)) return;
  closeSync(openSync(file, 'ax', 0o600));
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
