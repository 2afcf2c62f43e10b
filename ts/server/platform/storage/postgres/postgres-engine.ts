/** PostgreSQL behind the Engine interface: a pool of connections, and what happens when the server goes away. */
import type pg from 'pg';
import type { Engine } from '../engine.ts';
import { FairPlaces } from '../fair-places.ts';
import type { NotificationHandlers, NotificationListener } from '../notifications.ts';
import { Recovery } from '../recovery.ts';
import type { ExecuteStatement, Statement, StatementResult } from '../statement.ts';
import { StorageError } from '../storage-error.ts';
import type { ResolvedStorageOptions } from '../storage-options.ts';
import { type StorageScope, systemScope, tenantOf } from '../tenant-scope.ts';
import { connectFrom, createConnectionPool } from './connection-pool.ts';
import { toStorageError } from './postgres-failure.ts';
import { PostgresListener } from './postgres-listener.ts';
import { type PostgresTransaction, runPostgresTransaction } from './postgres-transaction.ts';
import { retryConflicts } from './retry-conflicts.ts';
import { checkServer } from './server-check.ts';

export class PostgresEngine implements Engine {
  readonly dialect = 'postgres';
  readonly #options: ResolvedStorageOptions;
  #recovery: Recovery;
  #pool: pg.Pool | undefined;
  readonly #running = new Set<Promise<unknown>>();
  /** The pool bounds them all together. */
  readonly #tenantReads: FairPlaces;

  constructor(options: ResolvedStorageOptions) {
    this.#options = options;
    this.#tenantReads = new FairPlaces(Number.POSITIVE_INFINITY, Math.max(1, Math.floor((options.poolSize * 2) / 3)));
    this.#recovery = this.#newRecovery();
  }

  async connect(): Promise<void> {
    this.#recovery = this.#newRecovery();
    const pool = createConnectionPool(this.#options);
    try {
      await checkConnection(pool);
    } catch (error) {
      await pool.end();
      throw error;
    }
    this.#pool = pool;
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    // The pool forgets those who wait for a connection when it ends.
    await Promise.allSettled(this.#running);
    await this.#recovery.stop();
    await pool?.end();
  }

  async read<T>(scope: StorageScope, run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    const pool = this.#opened();
    return await this.#track(this.#readInTurn(pool, scope, run));
  }

  async write<T>(scope: StorageScope, run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    const pool = this.#opened();
    const limitMs = this.#options.transactionTimeoutMs;
    const onRetry = () => this.#options.observer.onRetry?.();
    return await this.#track(retryConflicts(limitMs, onRetry, () => this.#commit(pool, { scope, mode: 'write', limitMs }, run)));
  }

  async writeUnit(scope: StorageScope, statements: readonly Statement[]): Promise<StatementResult[]> {
    return await this.write(scope, async (execute) => {
      const results: StatementResult[] = [];
      for (const statement of statements) results.push(await execute(statement));
      return results;
    });
  }

  async exclusive<T>(run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    return await this.#track(this.#commit(this.#opened(), { scope: systemScope(), mode: 'exclusive' }, run));
  }

  async exists(): Promise<boolean> {
    return true;
  }

  /** Backups of PostgreSQL are the operator's (pg_dump, pgbackrest). */
  backupPath(): undefined {
    return undefined;
  }

  async backup(): Promise<void> {}

  copyFile(): undefined {
    return undefined;
  }

  /** PostgreSQL looks after its own files. */
  async findDamage(): Promise<undefined> {
    return undefined;
  }

  async readConsistently<T>(run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    return await this.#track(this.#run(this.#opened(), { scope: systemScope(), mode: 'snapshot' }, run));
  }

  listen(channel: string, handlers: NotificationHandlers): NotificationListener {
    return new PostgresListener(this.#options.url, channel, handlers);
  }

  ioError(): StorageError | undefined {
    return this.#recovery.error;
  }

  notReady(): string | undefined {
    return this.#pool ? this.#recovery.error?.message : 'The database is not open.';
  }

  async #readInTurn<T>(pool: pg.Pool, scope: StorageScope, run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    const tenant = tenantOf(scope);
    const release = tenant === undefined ? undefined : await this.#tenantReads.acquire(tenant);
    try {
      return await this.#run(pool, { scope, mode: 'read', limitMs: this.#options.transactionTimeoutMs }, run);
    } finally {
      release?.();
    }
  }

  async #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  async #commit<T>(pool: pg.Pool, transaction: PostgresTransaction, run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    this.#recovery.check();
    const startedAt = performance.now();
    const value = await this.#run(pool, transaction, run);
    this.#options.observer.onCommit?.({ units: 1, durationMs: performance.now() - startedAt });
    return value;
  }

  async #run<T>(pool: pg.Pool, transaction: PostgresTransaction, run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    try {
      return await runPostgresTransaction(await connectFrom(pool), transaction, run);
    } catch (error) {
      if (error instanceof StorageError && error.code === 'storage_unavailable' && this.#pool === pool)
        this.#recovery.begin(error);
      throw error;
    }
  }

  #opened(): pg.Pool {
    if (this.#pool) return this.#pool;
    throw new StorageError('storage_closed', 'The database is not open.', {
      remedy: 'Call open() first, and nothing after close().',
    });
  }

  #newRecovery(): Recovery {
    return new Recovery(this.#options, async () => await checkConnection(this.#opened()));
  }
}

/** Throws a StorageError unless the server can be reached and suits. */
async function checkConnection(pool: pg.Pool): Promise<void> {
  const client = await connectFrom(pool);
  try {
    await checkServer(client);
    client.release();
  } catch (error) {
    client.release(true);
    throw toStorageError(error);
  }
}
