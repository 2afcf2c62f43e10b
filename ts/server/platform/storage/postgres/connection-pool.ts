/** The connections to PostgreSQL. */
import pg from 'pg';
import { StorageError } from '../storage-error.ts';
import type { ResolvedStorageOptions } from '../storage-options.ts';
import { toStorageError } from './postgres-failure.ts';
import { ANSWER_LIMIT_MS } from './silence.ts';

/** So long a transaction waits for a connection while others have them all. */
const WAIT_LIMIT_MS = 10_000;
/** How pg-pool says that the wait was too long. */
const ALL_IN_USE = 'timeout exceeded when trying to connect';
/** A server that answers takes a moment for a goodbye. */
const GOODBYE_LIMIT_MS = 1_000;

export class ConnectionPool {
  readonly #pool: pg.Pool;
  /** Those that are being opened as well. */
  readonly #clients = new Set<pg.Client>();
  /** Ends the waits for a connection. */
  readonly #waiting = new Set<(error: StorageError) => void>();
  #lost: StorageError | undefined;

  /** Does not connect. `options.url` names one server. */
  constructor(options: ResolvedStorageOptions) {
    const clients = this.#clients;
    class Client extends pg.Client {
      constructor(config: pg.ClientConfig) {
        super({ ...config, connectionTimeoutMillis: ANSWER_LIMIT_MS });
        clients.add(this);
        // A lost connection is reported by whatever uses it next; without listeners the event would end the process.
        this.on('error', () => undefined).on('end', () => clients.delete(this));
      }
    }
    this.#pool = new pg.Pool({
      ...clientConfig(options),
      max: options.poolSize,
      connectionTimeoutMillis: WAIT_LIMIT_MS,
      Client: Client as unknown as NonNullable<pg.PoolConfig['Client']>,
    });
    this.#pool.on('error', () => undefined);
  }

  /** Throws a StorageError; nothing was asked of the server yet. */
  async connect(): Promise<pg.PoolClient> {
    if (this.#lost !== undefined) throw this.#lost;
    const pool = this.#pool;
    const connecting = pool.connect();
    // A promise of its own: one for all would keep something of each race for as long as the pool lives.
    const lost = Promise.withResolvers<never>();
    this.#waiting.add(lost.reject);
    try {
      return await Promise.race([connecting, lost.promise]);
    } catch (error) {
      // One that comes when nobody waits any more.
      void connecting.then((client) => discard(client)).catch(() => undefined);
      if ((error as Error).message !== ALL_IN_USE) throw toStorageError(error);
      throw new StorageError('storage_busy', `All ${pool.totalCount} connections to PostgreSQL were in use for too long.`, {
        remedy: 'Raise database.pool_size, or find what holds transactions open.',
        cause: error,
      });
    } finally {
      this.#waiting.delete(lost.reject);
    }
  }

  /** Everything that runs on a connection or waits for one fails now: the server would not even answer a goodbye. */
  destroy(error: StorageError): void {
    this.#lost ??= error;
    for (const refuse of this.#waiting) refuse(error);
    for (const client of this.#clients) client.connection.stream.destroy();
    void this.#pool.end().catch(() => undefined);
  }

  /** Waits for what runs. */
  async end(): Promise<void> {
    if (this.#pool.ending) return;
    const limit = setTimeout(() => this.destroy(new StorageError('storage_closed', 'The database is closed.')), GOODBYE_LIMIT_MS);
    await this.#pool.end();
    clearTimeout(limit);
  }
}

/** Closes a connection without a goodbye, since nobody may be there to hear it. */
export function discard(client: pg.PoolClient): void {
  client.connection.stream.destroy();
  client.release(true);
}

/** What every connection of the process has in common. */
function clientConfig({ url, statementTimeoutMs, transactionTimeoutMs }: ResolvedStorageOptions): pg.ClientConfig {
  return {
    connectionString: url,
    types: valueParsers,
    application_name: 'svc',
    keepAlive: true,
    connectionTimeoutMillis: ANSWER_LIMIT_MS,
    statement_timeout: statementTimeoutMs,
    // The server ends a transaction whose client vanished without a word; ours end earlier by themselves.
    idle_in_transaction_session_timeout: 2 * transactionTimeoutMs,
  };
}

/** Does not connect. Throws a StorageError `invalid_url`, which does not repeat the URL: it may hold a password. */
export function newClient(options: ResolvedStorageOptions): pg.Client {
  try {
    return new pg.Client(clientConfig(options));
  } catch (error) {
    throw new StorageError('invalid_url', `database.url cannot be used: ${(error as Error).message}.`, {
      remedy: 'Use postgres://user:password@host:5432/database, or postgres:///database?host=/run/postgresql for a Unix socket.',
    });
  }
}

/** Object ids of types. Source: PostgreSQL's catalog, src/include/catalog/pg_type.dat. */
const BOOL = 16;
const BYTEA = 17;
const INT8 = 20;
const NUMERIC = 1700;

/** Parsers that give PostgreSQL's values as SQLite does: integers as numbers, booleans as 0 and 1, bytes as Uint8Array. */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [BOOL, (text) => (text === 't' ? 1 : 0)],
  [BYTEA, parseBytes],
  [INT8, parseExact],
  // count() and sum() of integers are numeric.
  [NUMERIC, parseExact],
]);

type Types = NonNullable<pg.PoolConfig['types']>;

const valueParsers: Types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && PARSERS.get(oid)) || pg.types.getTypeParser(oid, format ?? 'text')) as Types['getTypeParser'],
};

function parseExact(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(text)) return value;
  throw new StorageError('invalid_value', `PostgreSQL gave the integer ${text}, which a JS number does not hold exactly.`, {
    remedy: 'Keep sums and products below 2^53, or cast them to text in the query.',
  });
}

/** Format `hex`, the default of bytea_output since PostgreSQL 9.0. */
function parseBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.slice(2), 'hex'));
}
