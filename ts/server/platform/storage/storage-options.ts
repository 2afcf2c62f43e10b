import type { ModuleMigrations } from './migrations/migration.ts';
import type { SpareThreads } from './sqlite/spare-threads.ts';
import type { StorageError } from './storage-error.ts';

/** Hooks for metrics. They are called on the JS thread and must not throw. */
export interface StorageObserver {
  /** One commit that made `units` writes durable; `durationMs` is from the first statement to the end of the commit. */
  onCommit?(commit: { units: number; durationMs: number }): void;
  /** One read transaction, its time in the queue included. */
  onRead?(read: { durationMs: number }): void;
  /** One interactive write or unit, its time in the queue included. */
  onWrite?(write: { durationMs: number; failed: boolean }): void;
  /** A transaction that PostgreSQL asked to repeat. */
  onRetry?(): void;
  /** Writes stopped. */
  onIoError?(error: StorageError): void;
  /** Writes work again, `durationMs` after they stopped. */
  onRecovered?(recovery: { durationMs: number }): void;
}

export interface StorageOptions {
  /** `sqlite:` and a path, or `postgres://...` (a Unix socket: `postgres:///svc?host=/run/postgresql`). */
  url: string;
  /** The migrations of all modules, in tier order. */
  modules: readonly ModuleMigrations[];
  /** Connections to PostgreSQL. */
  poolSize?: number;
  /** An interactive transaction that takes longer is rolled back. */
  transactionTimeoutMs?: number;
  /** PostgreSQL aborts a statement that takes longer. */
  statementTimeoutMs?: number;
  /** The first and the longest wait between attempts to reopen the database after an I/O error. */
  reopenDelayMs?: { first: number; longest: number };
  /** How long reads and writes wait for a PostgreSQL server that went away, before they fail. */
  waitMs?: number;
  observer?: StorageObserver;
  /** Threads for SQLite that were started already. */
  spareThreads?: SpareThreads;
}

const defaultStorageOptions = {
  poolSize: 10,
  transactionTimeoutMs: 10_000,
  statementTimeoutMs: 30_000,
  waitMs: 0,
  reopenDelayMs: { first: 250, longest: 30_000 },
  observer: {},
} as const satisfies Partial<StorageOptions>;

export type ResolvedStorageOptions = StorageOptions & Required<Pick<StorageOptions, keyof typeof defaultStorageOptions>>;

export function resolveStorageOptions(options: StorageOptions): ResolvedStorageOptions {
  return { ...defaultStorageOptions, ...options };
}
