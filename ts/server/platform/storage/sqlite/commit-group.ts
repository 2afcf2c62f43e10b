/** The writes that will share one COMMIT: a transaction, with a savepoint for the write that runs now. */
import type { StatementResult } from '../statement.ts';
import type { Connection } from './connection.ts';
import { toThreadError } from './sqlite-failure.ts';
import type { ThreadEvent } from './thread-messages.ts';

interface DoneWrite {
  readonly id: number;
  readonly results: readonly StatementResult[];
}

interface EventSink {
  send(event: ThreadEvent): void;
}

export class CommitGroup {
  readonly #connection: Connection;
  readonly #events: EventSink;
  #done: DoneWrite[] = [];
  #startedAt: number | undefined;
  #inSavepoint = false;

  constructor(connection: Connection, events: EventSink) {
    this.#connection = connection;
    this.#events = events;
  }

  /** Writes that wait for the commit. */
  get units(): number {
    return this.#done.length;
  }

  get isOpen(): boolean {
    return this.#startedAt !== undefined;
  }

  ageMs(): number {
    return this.#startedAt === undefined ? 0 : performance.now() - this.#startedAt;
  }

  /** Begins a write, and the transaction if it is the first. */
  enter(exclusive: boolean): void {
    if (!this.isOpen) {
      this.#connection.control(exclusive ? 'BEGIN EXCLUSIVE' : 'BEGIN IMMEDIATE');
      this.#startedAt = performance.now();
    }
    this.#connection.control('SAVEPOINT svc_write');
    this.#inSavepoint = true;
  }

  /** Ends the running write; it is answered after the commit. */
  leave(id: number, results: readonly StatementResult[]): void {
    this.#connection.control('RELEASE svc_write');
    this.#inSavepoint = false;
    this.#done.push({ id, results });
  }

  /** Undoes the running write on its caller's wish, who need not wait for the commit. */
  abandon(id: number): void {
    this.undo();
    this.#events.send({ kind: 'reply', id, results: [] });
  }

  undo(): void {
    if (!this.#inSavepoint) return;
    this.#connection.control('ROLLBACK TO svc_write');
    this.#connection.control('RELEASE svc_write');
    this.#inSavepoint = false;
  }

  /** SQLite rolls the whole transaction back by itself on some errors; what looked done is then undone. */
  wasLost(): boolean {
    return this.isOpen && !this.#connection.database.inTransaction;
  }

  /** Whether there was something to commit. */
  commit(): boolean {
    if (!this.isOpen) return false;
    this.#connection.countCommit();
    this.#connection.control('COMMIT');
    for (const { id, results } of this.#done) this.#events.send({ kind: 'reply', id, results });
    this.#events.send({ kind: 'commit', units: this.#done.length, durationMs: this.ageMs() });
    this.#forget();
    return true;
  }

  /** Answers all after a COMMIT that failed. After an I/O error the log may hold the commit or not. */
  failCommit(error: unknown, fatal: boolean): void {
    if (!fatal && this.#connection.database.inTransaction) this.#connection.control('ROLLBACK');
    this.#refuseAll(error, fatal, fatal);
  }

  /** Answers all after an error before COMMIT, which undid everything. */
  lose(error: unknown): void {
    this.#refuseAll(error, true, false);
  }

  #refuseAll(error: unknown, fatal: boolean, outcomeUnknown: boolean): void {
    const refusal = toThreadError(error, { fatal, outcomeUnknown });
    for (const { id } of this.#done) this.#events.send({ kind: 'reply', id, results: [], error: refusal });
    this.#forget();
  }

  #forget(): void {
    this.#done = [];
    this.#startedAt = undefined;
    this.#inSavepoint = false;
  }
}
