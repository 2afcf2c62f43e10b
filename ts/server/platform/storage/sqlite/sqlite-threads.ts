/** The writer and the reader thread of one database file, and the transactions that run on them. */
import { guardStatements, transactionOver } from '../guarded-statements.ts';
import type { ExecuteStatement, Statement, StatementResult } from '../statement.ts';
import { StorageError } from '../storage-error.ts';
import { withinTimeLimit } from '../time-limit.ts';
import { Semaphore } from './semaphore.ts';
import { SpareThreads } from './spare-threads.ts';
import { SqliteThread, type ThreadListener } from './sqlite-thread.ts';
import type { ReaderRequest, WriterRequest } from './thread-messages.ts';

/** Read transactions that run at the same time, each on a connection of its own. */
const MAX_READS = 16;

/** How an interactive transaction runs; without a limit it may take as long as it wants. */
interface TransactionRules {
  readonly exclusive: boolean;
  readonly limitMs?: number;
}

export class SqliteThreads {
  readonly #file: string;
  readonly #listener: ThreadListener;
  readonly #spare: SpareThreads;
  readonly #reads = new Semaphore(MAX_READS);
  #writer: SqliteThread<WriterRequest>;
  #reader: SqliteThread<ReaderRequest>;
  #lastTransaction = 0;

  private constructor(file: string, listener: ThreadListener, spare: SpareThreads) {
    this.#spare = spare;
    this.#file = file;
    this.#listener = listener;
    this.#writer = new SqliteThread<WriterRequest>(spare.take('writer'), { file, recover: false }, listener);
    this.#reader = this.#newReader();
  }

  /** Opens the file with the writer, which creates it. The reader connects when it is first asked. */
  static async open(file: string, listener: ThreadListener, spare = new SpareThreads()): Promise<SqliteThreads> {
    const threads = new SqliteThreads(file, listener, spare);
    try {
      await Promise.all([threads.#writer.opened(), threads.#reader.opened()]);
      return threads;
    } catch (error) {
      await threads.close(true);
      throw error;
    }
  }

  /** After an I/O error: replaces the writer by one that verifies the database first. The reader drops bad connections by itself. */
  async reopen(): Promise<void> {
    await this.#writer.end();
    if (this.#reader.isOver) this.#reader = this.#newReader();
    this.#writer = new SqliteThread<WriterRequest>(
      this.#spare.take('writer'),
      { file: this.#file, recover: true },
      this.#listener,
    );
    await this.#writer.opened();
  }

  async writeUnit(statements: readonly Statement[]): Promise<StatementResult[]> {
    return [...(await this.#writer.ask((id) => ({ kind: 'unit', id, statements })))];
  }

  async backup(path: string): Promise<void> {
    await this.#writer.ask((id) => ({ kind: 'backup', id, path }));
  }

  write<T>(rules: TransactionRules, run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    const transaction = this.#nextTransaction();
    this.#writer.tell({ kind: 'begin', transaction, exclusive: rules.exclusive });
    return runTransaction(this.#writer, transaction, rules.limitMs, run);
  }

  async read<T>(limitMs: number | undefined, run: (execute: ExecuteStatement) => Promise<T>): Promise<T> {
    const release = await this.#reads.acquire();
    try {
      return await runTransaction<T>(this.#reader, this.#nextTransaction(), limitMs, run);
    } finally {
      release();
    }
  }

  /** Waits for what was asked, then closes the file; with `force` drops it. */
  async close(force = false): Promise<void> {
    await this.#reader.end(force ? undefined : { kind: 'close' });
    await this.#writer.end(force ? undefined : { kind: 'close' });
  }

  #newReader(): SqliteThread<ReaderRequest> {
    return new SqliteThread<ReaderRequest>(this.#spare.take('reader'), { file: this.#file, recover: false }, this.#listener);
  }

  #nextTransaction(): number {
    this.#lastTransaction += 1;
    return this.#lastTransaction;
  }
}

/** Runs the callback's statements on a thread, then ends the transaction there: commits, or undoes it when anything failed. */
async function runTransaction<T>(
  thread: SqliteThread<WriterRequest> | SqliteThread<ReaderRequest>,
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
    // The first error is the one to report; that the thread may be gone by now is known from it.
    await end(false).catch(() => undefined);
    throw error;
  }
}
