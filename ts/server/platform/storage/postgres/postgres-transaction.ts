/** One transaction on one connection: who it is for, what it may do, and what is known about it when it fails. */
import pg from 'pg';
import { guardStatements, transactionOver } from '../guarded-statements.ts';
import { ALL_TENANTS, TENANT_SETTING } from '../migrations/tenant-policy.ts';
import type { ExecuteStatement, Statement, StatementResult } from '../statement.ts';
import { StorageError } from '../storage-error.ts';
import { isSystemScope, type StorageScope } from '../tenant-scope.ts';
import { withinTimeLimit } from '../time-limit.ts';
import { discard } from './connection-pool.ts';
import { sqlState, toStorageError } from './postgres-failure.ts';
import { ANSWER_LIMIT_MS, answerUnlessLost, answerWithin } from './silence.ts';

export interface PostgresTransaction {
  readonly scope: StorageScope;
  readonly mode: 'read' | 'snapshot' | 'write' | 'exclusive';
  readonly limitMs?: number;
  /** Whether no answer comes any more from that backend, which is ended then. */
  isLost(backend: number): Promise<boolean>;
}

/** Any number that no other program uses for its advisory locks: the first bytes of "svcmigra". */
const MIGRATION_LOCK = '8319104477781783137';

/** A disk that has much to do may take a while. */
const COMMIT_LIMIT_MS = 5_000;
/** Of a migration, whose constraints may be checked at its end. */
const LONG_COMMIT_LIMIT_MS = 600_000;

const BEGIN = {
  read: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  // A whole database is read within one, at the pace of the disk that it goes to.
  snapshot: `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0`,
  // As if writes ran one after another, which is how they run on SQLite.
  write: 'BEGIN ISOLATION LEVEL SERIALIZABLE',
  exclusive: `BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
    SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`,
} as const;

/** An acknowledged write is on disk, whatever the default of the server or the role is. */
const DURABLE = `set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true)`;

export async function runPostgresTransaction<T>(
  client: pg.PoolClient,
  { scope, mode, limitMs, isLost }: PostgresTransaction,
  run: (execute: ExecuteStatement) => Promise<T>,
): Promise<T> {
  const isReading = mode === 'read' || mode === 'snapshot';
  let backend = 0;
  const statements = guardStatements((statement) => runStatement(client, statement, isReading, () => isLost(backend)));
  try {
    backend = await begin(client, `${BEGIN[mode]}; ${settings(scope)}`, mode === 'exclusive' ? undefined : ANSWER_LIMIT_MS);
    const work = run(statements.execute);
    const value = await (limitMs === undefined ? work : withinTimeLimit(limitMs, work));
    statements.check();
    statements.refuse(transactionOver());
    await commit(client, mode === 'exclusive' ? LONG_COMMIT_LIMIT_MS : COMMIT_LIMIT_MS, isReading);
    client.release();
    return value;
  } catch (error) {
    statements.refuse(error instanceof StorageError ? error : transactionOver());
    await abandon(client, error);
    throw error;
  }
}

/** Resolves to the process id of the server's side. Without a limit it may wait for others of its kind. */
async function begin(client: pg.PoolClient, sql: string, limitMs: number | undefined): Promise<number> {
  try {
    // One result for each of the statements.
    const begun = client.query(sql) as unknown as Promise<pg.QueryResult<{ backend: number }>[]>;
    const results = await (limitMs === undefined ? begun : answerWithin(limitMs, begun));
    return results.at(-1)?.rows[0]?.backend ?? 0;
  } catch (error) {
    throw toStorageError(error);
  }
}

function settings(scope: StorageScope): string {
  const tenant = isSystemScope(scope) ? ALL_TENANTS : scope.tenant;
  return `SELECT set_config('${TENANT_SETTING}', ${pg.escapeLiteral(tenant)}, true), ${DURABLE}, pg_backend_pid() AS backend`;
}

async function runStatement(
  client: pg.PoolClient,
  { sql, parameters }: Statement,
  reading: boolean,
  isLost: () => Promise<boolean>,
): Promise<StatementResult> {
  try {
    const asked = client.query<StatementResult['rows'][number]>(sql, [...parameters]);
    const result = await answerUnlessLost(asked, isLost);
    return { rows: result.rows, affectedRows: result.command === 'SELECT' ? 0 : (result.rowCount ?? 0) };
  } catch (error) {
    throw toStorageError(error, { reading });
  }
}

/** Throws with the outcome `unknown` unless the server said that it did not commit, or there was nothing to write. */
async function commit(client: pg.PoolClient, limitMs: number, isReading: boolean): Promise<void> {
  const { command } = await answerWithin(limitMs, client.query('COMMIT')).catch((error: unknown) => {
    throw isReading ? toStorageError(error) : uncommitted(error);
  });
  // A transaction that the server gave up answers COMMIT with ROLLBACK, which is no error to it.
  if (command === 'ROLLBACK') throw new StorageError('statement_failed', 'PostgreSQL rolled the transaction back.');
}

function uncommitted(error: unknown): StorageError {
  const { code, message, remedy } = toStorageError(error);
  // 40003 says itself that the server does not know.
  const outcome = /^(40(?!003)|23)/.test(sqlState(error) ?? '') ? 'not_applied' : 'unknown';
  return new StorageError(code, message, { remedy, outcome, cause: error });
}

/** Undoes the transaction. A connection in doubt, or one that still runs a statement, is closed, which undoes it as well. */
async function abandon(client: pg.PoolClient, error: unknown): Promise<void> {
  const code = error instanceof StorageError ? error.code : undefined;
  if (code === 'transaction_timeout' || code === 'storage_unavailable') {
    discard(client);
    return;
  }
  try {
    await answerWithin(ANSWER_LIMIT_MS, client.query('ROLLBACK'));
    client.release();
  } catch {
    discard(client);
  }
}
