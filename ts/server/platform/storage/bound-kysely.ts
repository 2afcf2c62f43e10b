/** A Kysely whose statements go through one function: a transaction of either database, or none at all. */
import {
  type ConnectionProvider,
  type DatabaseConnection,
  DefaultQueryExecutor,
  DummyDriver,
  Kysely,
  PostgresDialect,
  type QueryResult,
  SqliteDialect,
} from 'kysely';
import { type ExecuteStatement, toStatement } from './statement.ts';
import { StorageError } from './storage-error.ts';

export type DialectName = 'sqlite' | 'postgres';

class NoNestedTransactions extends DummyDriver {
  override beginTransaction(): Promise<void> {
    throw new StorageError('statement_failed', 'A transaction cannot be begun inside read() or write(), which are one already.', {
      remedy: 'Use the database handle that the callback got.',
    });
  }
}

function neverConnect(): never {
  throw new Error('statements run through storage, not through a connection of Kysely');
}

const driver = new NoNestedTransactions();
// Kysely asks a dialect for its adapter, compiler and introspector only; connections never come from it.
const dialects = {
  sqlite: new SqliteDialect({ database: async () => neverConnect() }),
  postgres: new PostgresDialect({ pool: async () => neverConnect() }),
};
const parts = {
  sqlite: { adapter: dialects.sqlite.createAdapter(), compiler: dialects.sqlite.createQueryCompiler() },
  postgres: { adapter: dialects.postgres.createAdapter(), compiler: dialects.postgres.createQueryCompiler() },
};

class StatementConnection implements DatabaseConnection, ConnectionProvider {
  readonly #execute: ExecuteStatement;

  constructor(execute: ExecuteStatement) {
    this.#execute = execute;
  }

  provideConnection<T>(consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    return consumer(this);
  }

  async executeQuery<R>(query: Parameters<DatabaseConnection['executeQuery']>[0]): Promise<QueryResult<R>> {
    const { rows, affectedRows } = await this.#execute(toStatement(query));
    return { rows: rows as R[], numAffectedRows: BigInt(affectedRows) };
  }

  // biome-ignore lint/correctness/useYield: Kysely's interface wants a generator; what it streams would outlive the transaction.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new StorageError('statement_failed', 'Storage does not stream rows.', { remedy: 'Read pages by a key and a limit.' });
  }
}

export function bindKysely<Tables>(dialect: DialectName, execute: ExecuteStatement): Kysely<Tables> {
  const { adapter, compiler } = parts[dialect];
  const executor = new DefaultQueryExecutor(compiler, adapter, new StatementConnection(execute));
  return new Kysely<Tables>({ config: { dialect: dialects[dialect] }, driver, dialect: dialects[dialect], executor });
}
