/** The connections to PostgreSQL. */
import pg from 'pg';
import { StorageError } from '../storage-error.ts';
import type { ResolvedStorageOptions } from '../storage-options.ts';
import { toStorageError } from './postgres-failure.ts';
import { valueParsers } from './value-parsers.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** Builds the pool without connecting. Throws a StorageError `invalid_url`, which does not repeat the URL: it may hold a password. */
export function createConnectionPool({
  url,
  poolSize,
  statementTimeoutMs,
  transactionTimeoutMs,
}: ResolvedStorageOptions): pg.Pool {
  try {
    const pool = new pg.Pool({
      connectionString: url,
      max: poolSize,
      types: valueParsers,
      application_name: 'svc',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: statementTimeoutMs,
      // The server ends a transaction whose client vanished without a word; ours end earlier by themselves.
      idle_in_transaction_session_timeout: 2 * transactionTimeoutMs,
    });
    // A lost connection is reported by whatever uses it next; without listeners the event would end the process.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    return pool;
  } catch (error) {
    throw new StorageError('invalid_url', `database.url cannot be used: ${(error as Error).message}.`, {
      remedy: 'Use postgres://user:password@host:5432/database, or postgres:///database?host=/run/postgresql for a Unix socket.',
    });
  }
}

/** Throws a StorageError; nothing was asked of the server yet. */
export async function connectFrom(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    if (pool.totalCount < pool.options.max || pool.totalCount === 0) throw toStorageError(error);
    throw new StorageError('storage_busy', `All ${pool.totalCount} connections to PostgreSQL were in use for too long.`, {
      remedy: 'Raise database.pool_size, or find what holds transactions open.',
      cause: error,
    });
  }
}
