/** The writer and the reader threads of one database file, and the transactions that run on them. */
import { FairPlaces } from '../../fair-places.ts';
import { guardStatements, transactionOver } from '../guarded-statements.ts';
import type { ExecuteStatement, Statement, StatementResult } from '../statement.ts';
import { StorageError } from '../storage-error.ts';
import { withinTimeLimit } from '../time-limit.ts';
import { ReadTransaction } from './read-transaction.ts';
import { ReaderThreads } from './reader-threads.ts';
import { SpareThreads } from './spare-threads.ts';
import { SqliteThread, type ThreadListener } from './sqlite-thread.ts';
import type { EndRequest, StatementRequest, WriterRequest } from './thread-messages.ts';

/** Read transactions that run at the same time, each on a connection of its own: of all tenants, of one of them, and of the system. */
const MAX_READS = 24;
const MAX_TENANT_READS = 16;
const MAX_SYSTEM_READS = 8;
/** A unit of more bytes holds the writer for long enough to be felt: one is with it at a time, and tenants take turns. */
const LARGE_UNIT_BYTES = 1024 * 1024;

interface ThreadsOptions {
  /** Threads that were started already. */
  readonly spare?: SpareThreads | undefined;
  /** See ModuleMigrations. */
  readonly transient?: readonly string[];
}

/** How an interactive transaction runs; without a limit it may take as long as it wants. */
interface TransactionRules {
  readonly exclusive: boolean;
  readonly limitMs?: number;
}

export class SqliteThreads {
  readonly #file: string;
  readonly #listener: ThreadListener;
  readonly #spare: SpareThreads;
  readonly #transient: readonly string[];
  readonly #reads = new FairPlaces(MAX_READS, MAX_TENANT_READS);
  readonly #systemReads = new FairPlaces(MAX_SYSTEM_READS, MAX_SYSTEM_READS);
  readonly #largeUnits = new FairPlaces(1, 1);
  #writer: SqliteThread<WriterRequest>;
  readonly #readers: ReaderThreads;
  #lastTransaction = 0;

  private constructor(file: string, listener: ThreadListener, { spare = new SpareThreads(), transient = [] }: ThreadsOptions) {
    this.#spare = spare;
    this.#transient = transient;
    this.#file = file;
    this.#listener = listener;
    this.#writer = new SqliteThread<WriterRequest>(spare.take('writer'), { file, recover: false, transient }, listener);
    this.#readers = new ReaderThreads(file, listener, spare);
  }

  /** Opens the file with the writer, which creates it. The readers connect when they are first asked. */
  static async open(file: string, listener: ThreadListener, options: ThreadsOptions = {}): Promise<SqliteThreads> {
    const threads = new SqliteThreads(file, listener, options);
    try {
      await Promise.all([threads.#writer.opened(), threads.#readers.opened()]);
      return threads;
    } catch (error) {
      await threads.close(true);
      throw error;
    }
  }

  /** After an I/O error: replaces the writer by one that verifies the database first. Readers drop bad connections by themselves. */
  async reopen(): Promise<void> {
    await this.#writer.end();
    this.#writer = new SqliteThread<WriterRequest>(
      this.#spare.take('writer'),
      { file: this.#file, recover: true, transient: this.#transient },
      this.#listener,
    );
    await this.#writer.opened();
  }

  async writeUnit(tenant: string | undefined, statements: readonly Statement[]): Promise<StatementResult[]> {
    const release = isLarge(statements) ? await this.#largeUnits.acquire(tenant ?? '') : undefined;
    try {
      return [...(await this.#writer.ask((id) => ({ kind: 'unit', id, statements })))];
    } finally {
      release?.();
    }
  }

  async backup(path: string): Promise<void> {
    await this.#writer.ask((id) => ({ kind: 'backup', id, path }));
  }

  write<T>(rules: TransactionRules, run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    const transaction = this.#nextTransaction();
    this.#writer.tell({ kind: 'begin', transaction, exclusive: rules.exclusive });
    const writer = { ask: (make: (id: number) => StatementRequest | EndRequest) => this.#writer.ask(make) };
    return runTransaction(writer, transaction, rules.limitMs, run);
  }

  /** Without a tenant, for the system itself. */
  async read<T>(
    tenant: string | undefined,
    limitMs: number | undefined,
    run: (execute: ExecuteStatement) => Promise<T>,
  ): Promise<T> {
    const release = await (tenant === undefined ? this.#systemReads.acquire('') : this.#reads.acquire(tenant));
    const transaction = new ReadTransaction(this.#nextTransaction(), this.#readers, tenant);
    try {
      return await runTransaction<T>(transaction, transaction.id, limitMs, run);
    } finally {
      transaction.close();
      release();
    }
  }

  /** Waits for what was asked, then closes the file; with `force` drops it. */
  async close(force = false): Promise<void> {
    await this.#readers.close(force);
    await this.#writer.end(force ? undefined : { kind: 'close' });
  }

  #nextTransaction(): number {
    this.#lastTransaction += 1;
    return this.#lastTransaction;
  }
}

function isLarge(statements: readonly Statement[]): boolean {
  let bytes = 0;
  for (const { parameters } of statements) {
    for (const value of parameters) {
      if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length;
    }
  }
  return bytes > LARGE_UNIT_BYTES;
}

/** What runs a transaction. */
interface TransactionThread {
  ask(make: (id: number) => StatementRequest | EndRequest): Promise<readonly StatementResult[]>;
  /** Leaves to itself what still runs of a transaction that took too long. */
  giveUp?(): unknown;
}

/** Runs the callback's statements on a thread, then ends the transaction there: commits, or undoes it when anything failed. */
async function runTransaction<T>(
  thread: TransactionThread,
  transaction: number,
  limitMs: number | undefined,
  run: (execute: ExecuteStatement) => Promise<T>,
): Promise<T> {
  const statements = guardStatements(async (statement) => {
    const [result] = await thread.ask((id) => ({ kind: 'statement', id, transaction, statement }));
    if (!result) throw new StorageError('statement_failed', 'The database thread answered a statement without a result.');
    return result;
  });
  const end = (commit: boolean) => thread.ask((id) => ({ kind: 'end', id, transaction, commit }));
  try {
    const work = run(statements.execute);
    const value = await (limitMs === undefined ? work : withinTimeLimit(limitMs, work));
    statements.check();
    statements.refuse(transactionOver());
    await end(true);
    return value;
  } catch (error) {
    statements.refuse(error instanceof StorageError ? error : transactionOver());
    if (error instanceof StorageError && error.code === 'transaction_timeout') thread.giveUp?.();
    // The first error is the one to report; that the thread may be gone by now is known from it.
    await end(false).catch(() => undefined);
    throw error;
  }
}
