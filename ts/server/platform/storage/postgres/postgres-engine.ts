/** PostgreSQL behind the Engine interface: a pool of connections, and what happens when the server goes away or falls silent. */

import { setTimeout as wait } from 'node:timers/promises';
import { FairPlaces } from '../../fair-places.ts';
import type { Engine } from '../engine.ts';
import type { NotificationHandlers, NotificationListener } from '../notifications.ts';
import { Recovery } from '../recovery.ts';
import type { ExecuteStatement, Statement, StatementResult } from '../statement.ts';
import { StorageError } from '../storage-error.ts';
import type { ResolvedStorageOptions } from '../storage-options.ts';
import { type StorageScope, systemScope, tenantOf } from '../tenant-scope.ts';
import { ConnectionPool } from './connection-pool.ts';
import { urlsOfHosts } from './hosts.ts';
import { type OpenServer, openFirstOf, openWriter } from './open-client.ts';
import { toStorageError } from './postgres-failure.ts';
import { PostgresListener } from './postgres-listener.ts';
import { type PostgresTransaction, runPostgresTransaction } from './postgres-transaction.ts';
import { Pulse } from './pulse.ts';

/** The database is the node's own: nobody else is spared by a longer wait. */
const RECONNECT_MS = { first: 100, longest: 500 };
/** A server that says it works and fails again at once is not asked without end. */
const MOST_ATTEMPTS = 3;

export class PostgresEngine implements Engine {
  readonly dialect = 'postgres';
  readonly #options: ResolvedStorageOptions;
  #recovery: Recovery;
  #pool: ConnectionPool | undefined;
  /** The server that the pool's connections lead to. */
  #url = '';
  #pulse: Pulse | undefined;
  /** Why even reads are refused: nothing answers. */
  #silence: StorageError | undefined;
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
    this.#serve(await this.#openFirst());
  }

  /** Of several servers one is waited for that takes writes, as in a failover; a single one that is away may be a mistake, which is told at once. */
  async #openFirst(): Promise<OpenServer> {
    const giveUpAt = performance.now() + (urlsOfHosts(this.#options.url).length > 1 ? this.#options.waitMs : 0);
    for (;;) {
      try {
        return await openWriter(this.#options);
      } catch (error) {
        const isAway = error instanceof StorageError && error.code === 'storage_unavailable';
        if (!isAway || performance.now() > giveUpAt) throw error;
        await wait(RECONNECT_MS.longest);
      }
    }
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await this.#recovery.stop();
    // The pool forgets those who wait for a connection when it ends.
    await Promise.allSettled(this.#running);
    this.#pulse?.stop();
    await pool?.end();
  }

  async read<T>(scope: StorageScope, run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    return await this.#track(this.#patiently((pool) => this.#readInTurn(pool, scope, run)));
  }

  async write<T>(scope: StorageScope, run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    const limitMs = this.#options.transactionTimeoutMs;
    const onRetry = () => this.#options.observer.onRetry?.();
    const attempt = (pool: ConnectionPool) => this.#commit(pool, { scope, mode: 'write', limitMs }, run);
    return await this.#track(this.#patiently((pool) => retryConflicts(limitMs, onRetry, () => attempt(pool))));
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

  /** Tries again, once a server takes writes, what was not applied since one went away, within the time that requests may wait. */
  async #patiently<T>(attempt: (pool: ConnectionPool) => Promise<T>): Promise<T> {
    let pool = this.#opened();
    const giveUpAt = performance.now() + this.#options.waitMs;
    for (let nAttempts = 1; ; nAttempts += 1) {
      try {
        return await attempt(pool);
      } catch (error) {
        const isPassing =
          error instanceof StorageError && error.code === 'storage_unavailable' && error.outcome === 'not_applied';
        if (!isPassing || nAttempts === MOST_ATTEMPTS) throw error;
        if (!(await this.#recovery.isOverWithin(giveUpAt - performance.now()))) throw error;
        pool = this.#opened();
      }
    }
  }

  async #readInTurn<T>(pool: ConnectionPool, scope: StorageScope, run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
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

  async #commit<T>(
    pool: ConnectionPool,
    transaction: Omit<PostgresTransaction, 'isLost'>,
    run: (execute: ExecuteStatement) => Promise<T>,
  ): Promise<T> {
    this.#recovery.check();
    const startedAt = performance.now();
    const value = await this.#run(pool, transaction, run);
    this.#options.observer.onCommit?.({ units: 1, durationMs: performance.now() - startedAt });
    return value;
  }

  async #run<T>(
    pool: ConnectionPool,
    transaction: Omit<PostgresTransaction, 'isLost'>,
    run: (execute: ExecuteStatement) => Promise<T>,
  ): Promise<T> {
    const isLost = async (backend: number) => (await this.#pulse?.endIdle(backend)) === true;
    try {
      if (this.#silence !== undefined) throw this.#silence;
      return await runPostgresTransaction(await pool.connect(), { ...transaction, isLost }, run);
    } catch (error) {
      if (error instanceof StorageError && error.code === 'storage_unavailable' && this.#pool === pool)
        this.#recovery.begin(error);
      throw error;
    }
  }

  /** Takes the connection that tells whether the server answers, and connections to no other server. */
  #serve({ client, url }: OpenServer): void {
    if (this.#pool === undefined || this.#silence !== undefined || this.#url !== url) {
      const moved = new StorageError('storage_unavailable', 'PostgreSQL does not work: another server takes the writes now.');
      this.#pool?.destroy(moved);
      this.#pool = new ConnectionPool({ ...this.#options, url });
      this.#url = url;
    }
    const pool = this.#pool;
    this.#silence = undefined;
    this.#pulse?.stop();
    this.#pulse = new Pulse(client, { onSilent: (error) => this.#lose(pool, error), onEnded: () => void this.#feelAgain(pool) });
  }

  /** The connection of the pulse alone ended: those of the pool tell for themselves. */
  async #feelAgain(pool: ConnectionPool): Promise<void> {
    try {
      const opened = await openWriter(this.#options);
      if (this.#pool === pool) this.#serve(opened);
      else opened.client.connection.stream.destroy();
    } catch (error) {
      this.#lose(pool, toStorageError(error));
    }
  }

  /** The server answers nothing: what was asked of it fails now, and each connection is made anew. */
  #lose(pool: ConnectionPool, error: StorageError): void {
    if (this.#pool === pool) {
      this.#silence = error;
      this.#recovery.begin(error);
    }
    pool.destroy(error);
  }

  #opened(): ConnectionPool {
    if (this.#pool) return this.#pool;
    throw new StorageError('storage_closed', 'The database is not open.', {
      remedy: 'Call open() first, and nothing after close().',
    });
  }

  #newRecovery(): Recovery {
    return new Recovery({ ...this.#options, reopenDelayMs: RECONNECT_MS }, () => this.#reopen());
  }

  /** A server that said what is wrong keeps its connections, and one that fell silent has none any more. */
  async #reopen(): Promise<void> {
    const opened = await openFirstOf(
      () => openWriter(this.#options),
      ({ client }) => client.connection.stream.destroy(),
    );
    if (this.#pool === undefined) opened.client.connection.stream.destroy();
    else this.#serve(opened);
  }
}

const LONGEST_DELAY_MS = 100;

/** Repeats a transaction that PostgreSQL refused because of concurrent ones, until `limitMs` have passed since the first attempt. */
async function retryConflicts<T>(limitMs: number, onRetry: () => void, attempt: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  for (let delayMs = 1; ; delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS)) {
    try {
      return await attempt();
    } catch (error) {
      const isConflict = error instanceof StorageError && error.code === 'write_conflict';
      if (!isConflict || performance.now() - startedAt > limitMs) throw error;
    }
    onRetry();
    // A random delay keeps those that collided from colliding again.
    await wait(Math.random() * delayMs);
  }
}
