/** The reader thread's loop. Each read transaction has a connection of its own, so its queries see one state of the database. */
import { Connection } from './connection.ts';
import { isFatal, toThreadError } from './sqlite-failure.ts';
import type { EndRequest, ReaderRequest, StatementRequest } from './thread-messages.ts';
import type { ThreadPort } from './thread-port.ts';

export class Reader {
  readonly #file: string;
  readonly #port: ThreadPort<ReaderRequest>;
  readonly #idle: Connection[] = [];
  readonly #transactions = new Map<number, Connection>();
  /** The thread ends when the last transaction does. */
  #isClosing = false;

  constructor(file: string, port: ThreadPort<ReaderRequest>) {
    this.#file = file;
    this.#port = port;
  }

  handle(batch: readonly ReaderRequest[]): void {
    for (const request of batch) this.#serve(request);
    if (this.#isClosing && this.#transactions.size === 0) this.#close();
    this.#port.flush();
  }

  #serve(request: ReaderRequest): void {
    if (request.kind === 'close') this.#isClosing = true;
    else if (request.kind === 'statement') this.#run(request);
    else if (request.kind === 'end') this.#end(request);
  }

  #run({ id, transaction, statement }: StatementRequest): void {
    try {
      this.#port.send({ kind: 'reply', id, results: [this.#connectionOf(transaction).run(statement)] });
    } catch (error) {
      const fatal = isFatal(error, true);
      if (fatal) this.#drop(transaction);
      this.#port.send({ kind: 'reply', id, results: [], error: toThreadError(error, { fatal }) });
    }
  }

  /** Closes a connection that met an I/O error; the next transaction gets another one. */
  #drop(transaction: number): void {
    this.#transactions.get(transaction)?.close();
    this.#transactions.delete(transaction);
  }

  /** A transaction begins with its first statement. */
  #connectionOf(transaction: number): Connection {
    const known = this.#transactions.get(transaction);
    if (known) return known;
    const connection = this.#idle.pop() ?? Connection.openReader(this.#file);
    this.#transactions.set(transaction, connection);
    connection.control('BEGIN');
    return connection;
  }

  #end({ id, transaction }: EndRequest): void {
    const connection = this.#transactions.get(transaction);
    this.#transactions.delete(transaction);
    if (connection) this.#reuse(connection);
    this.#port.send({ kind: 'reply', id, results: [] });
  }

  #reuse(connection: Connection): void {
    try {
      if (connection.database.inTransaction) connection.control('ROLLBACK');
      this.#idle.push(connection);
    } catch {
      // The transaction has its answers; only the connection is of no use any more.
      connection.close();
    }
  }

  #close(): void {
    for (const connection of this.#idle) connection.close();
    this.#port.close();
  }
}
