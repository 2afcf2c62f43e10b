/**
 * The lock on a data folder: a lock of the kernel on `lock.sqlite` in it, which SQLite takes for us. It is gone when its process is, however
 * that ended, so neither a leftover file nor a reused process id matters. `lock.json` beside it says who holds the lock, for people.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { finishSwap } from '../files/staged-swap.ts';
import { StorageError } from './storage-error.ts';

interface LockHolder {
  pid: number;
  /** What the process is: `svc serve`. */
  command: string;
  /** ISO 8601. */
  since: string;
}

export class DataDirLock {
  readonly #database: Database.Database;
  readonly #holderFile: string;

  private constructor(database: Database.Database, holderFile: string) {
    this.#database = database;
    this.#holderFile = holderFile;
  }

  /** Takes the lock, or throws a StorageError `data_dir_locked` that says who holds it. Never waits. */
  static async acquire(dataDir: string, command: string): Promise<DataDirLock> {
    // Loaded here: most commands of `svc` take no lock, and need not wait for SQLite.
    const Sqlite = createRequire(import.meta.url)('better-sqlite3') as typeof Database;
    mkdirSync(dataDir, { recursive: true });
    const holderFile = join(dataDir, 'lock.json');
    const database = lockDatabase(new Sqlite(join(dataDir, 'lock.sqlite'), { timeout: 0 }), () =>
      lockedError(dataDir, readHolder(holderFile)),
    );
    const lock = new DataDirLock(database, holderFile);
    lock.#writeHolder({ pid: process.pid, command, since: new Date().toISOString() });
    // A restore that was killed while it moved its files is finished before anything reads them.
    await finishSwap(dataDir);
    return lock;
  }

  /** Idempotent. The process's end does the same. */
  release(): void {
    if (!this.#database.open) return;
    rmSync(this.#holderFile, { force: true });
    this.#database.close();
  }

  #writeHolder(holder: LockHolder): void {
    const part = `${this.#holderFile}.part`;
    writeFileSync(part, JSON.stringify(holder), { mode: 0o600 });
    renameSync(part, this.#holderFile);
  }
}

/** Nothing is written into the file: the transaction that stays open holds its lock. */
function lockDatabase(database: Database.Database, locked: () => StorageError): Database.Database {
  try {
    database.pragma('journal_mode = MEMORY');
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')) throw locked();
    throw new StorageError('storage_unavailable', `The lock ${database.name} cannot be taken: ${(error as Error).message}.`, {
      remedy: 'Put data_dir on a local file system that this user can write to and that knows locks.',
      cause: error,
    });
  }
}

/** Undefined where the holder has not said yet, or a crash left nonsense. */
function readHolder(file: string): LockHolder | undefined {
  try {
    const holder = JSON.parse(readFileSync(file, 'utf8')) as Partial<LockHolder> | null;
    const { pid, command, since } = holder ?? {};
    return typeof pid === 'number' && typeof command === 'string' && typeof since === 'string'
      ? { pid, command, since }
      : undefined;
  } catch {
    return undefined;
  }
}

function lockedError(dataDir: string, holder: LockHolder | undefined): StorageError {
  const who = holder ? `${holder.command} (process ${holder.pid}, since ${holder.since})` : 'another process';
  return new StorageError('data_dir_locked', `The data folder ${dataDir} is in use by ${who}.`, {
    remedy: 'Stop that process, or choose another data_dir.',
  });
}
