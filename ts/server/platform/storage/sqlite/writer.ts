/**
 * The writer thread's loop. Writes that arrive while a commit runs share the next one: each runs in a savepoint of its own inside one
 * transaction, and is answered only after the one COMMIT, whose fsync they share.
 */

import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import type { Statement, StatementResult } from '../statement.ts';
import { CommitGroup } from './commit-group.ts';
import type { Connection } from './connection.ts';
import { isBusy, isFatal, toThreadError } from './sqlite-failure.ts';
import type { BackupRequest, BeginRequest, EndRequest, StatementRequest, UnitRequest, WriterRequest } from './thread-messages.ts';
import type { ThreadPort } from './thread-port.ts';
import { WriteAheadLog } from './write-ahead-log.ts';

/** A group ends after so many writes or so long, so that the first of them does not wait for ever. */
const MAX_GROUP_UNITS = 1_024;
const MAX_GROUP_MS = 20;

interface OpenTransaction {
  readonly begin: BeginRequest;
  readonly inbox: (StatementRequest | EndRequest)[];
  /** Why it could not begin. */
  failure?: unknown;
}

export class Writer {
  readonly #connection: Connection;
  readonly #port: ThreadPort<WriterRequest>;
  readonly #group: CommitGroup;
  readonly #log: WriteAheadLog;
  /** Writes in the order of their arrival; an interactive transaction waits here with what it has asked so far. */
  readonly #queue: (UnitRequest | OpenTransaction | BackupRequest)[] = [];
  readonly #transactions = new Map<number, OpenTransaction>();
  /** The interactive transaction that runs now. */
  #current: OpenTransaction | undefined;
  #broken: unknown;
  /** The thread ends when all that it was asked is done. */
  #isClosing = false;

  constructor(connection: Connection, port: ThreadPort<WriterRequest>) {
    this.#connection = connection;
    this.#port = port;
    this.#group = new CommitGroup(connection, port);
    // A transaction that is open ends with a commit, which looks after the log as well.
    this.#log = new WriteAheadLog(connection, () => this.handle([]));
  }

  handle(batch: readonly WriterRequest[]): void {
    this.#sort(batch);
    this.#sort(this.#port.take());
    this.#work();
    if (this.#isClosing && !this.#current && this.#queue.length === 0) this.#close();
    this.#port.flush();
  }

  #sort(requests: readonly WriterRequest[]): void {
    for (const request of requests) {
      if (request.kind === 'close') this.#isClosing = true;
      else if (request.kind === 'unit' || request.kind === 'backup') this.#queue.push(request);
      else if (request.kind === 'begin') this.#enqueue(request);
      else this.#deliver(request);
    }
  }

  #enqueue(begin: BeginRequest): void {
    const transaction: OpenTransaction = { begin, inbox: [] };
    this.#transactions.set(begin.transaction, transaction);
    this.#queue.push(transaction);
  }

  #deliver(request: StatementRequest | EndRequest): void {
    const transaction = this.#transactions.get(request.transaction);
    if (transaction) transaction.inbox.push(request);
    else this.#refuse(request.id, new Error('the transaction has ended'));
  }

  /** Runs what can run. Returns with an open group only while an interactive transaction thinks. */
  #work(): void {
    for (;;) {
      if (this.#current) {
        if (!this.#proceed(this.#current)) return;
        continue;
      }
      if (this.#queue.length === 0) this.#sort(this.#port.take());
      if (this.#startNext()) continue;
      this.#commit();
      if (this.#queue.length === 0) return;
    }
  }

  #groupIsFull(): boolean {
    return this.#group.units >= MAX_GROUP_UNITS || this.#group.ageMs() >= MAX_GROUP_MS;
  }

  /** Whether something was taken from the queue. */
  #startNext(): boolean {
    const next = this.#queue[0];
    if (!next || this.#groupIsFull()) return false;
    const alone = 'begin' in next ? next.begin.exclusive : next.kind === 'backup';
    if (alone && this.#group.isOpen) return false;
    this.#queue.shift();
    if ('begin' in next) this.#begin(next);
    else if (next.kind === 'unit') this.#runUnit(next);
    else this.#backup(next);
    return true;
  }

  #begin(transaction: OpenTransaction): void {
    this.#current = transaction;
    try {
      if (this.#broken !== undefined) throw this.#broken;
      this.#group.enter(transaction.begin.exclusive);
    } catch (error) {
      // Its statements must not run outside a transaction: they and its end are refused with this error.
      transaction.failure = error;
      this.#refuseQueue(error);
    }
  }

  /** Another program has held the lock for the whole busy timeout: what waits is refused too, instead of waiting as long again, each in turn. */
  #refuseQueue(error: unknown): void {
    if (isFatal(error)) this.#break(error);
    if (!isBusy(error)) return;
    for (const waiting of this.#queue.splice(0)) {
      if ('begin' in waiting) this.#refuseTransaction(waiting, error);
      else this.#refuse(waiting.id, error);
    }
  }

  /** What it has asked is refused now, and what it asks later when that comes. */
  #refuseTransaction(transaction: OpenTransaction, error: unknown): void {
    this.#transactions.delete(transaction.begin.transaction);
    for (const { id } of transaction.inbox) this.#refuse(id, error);
  }

  #runUnit({ id, statements }: UnitRequest): void {
    this.#attempt(id, () => {
      this.#group.enter(false);
      this.#group.leave(id, this.#runAll(statements));
    });
  }

  #runAll(statements: readonly Statement[]): StatementResult[] {
    return statements.map((statement) => this.#connection.run(statement));
  }

  /** Works off what the transaction has asked so far. False when it has to ask more first. */
  #proceed(transaction: OpenTransaction): boolean {
    const request = transaction.inbox.shift();
    if (!request) return false;
    if (request.kind === 'statement') this.#runStatement(transaction, request);
    else this.#end(transaction, request);
    return true;
  }

  #runStatement(transaction: OpenTransaction, { id, statement }: StatementRequest): void {
    const failure = this.#broken ?? transaction.failure;
    try {
      if (failure !== undefined) throw failure;
      this.#port.send({ kind: 'reply', id, results: [this.#connection.run(statement)] });
    } catch (error) {
      this.#failed(id, error, false);
    }
    this.#port.flush();
  }

  #end(transaction: OpenTransaction, { id, commit }: EndRequest): void {
    this.#current = undefined;
    this.#transactions.delete(transaction.begin.transaction);
    this.#attempt(id, () => {
      if (transaction.failure !== undefined) throw transaction.failure;
      if (commit) this.#group.leave(id, []);
      else this.#group.abandon(id);
      // An exclusive transaction shares its commit with nothing that follows.
      if (transaction.begin.exclusive) this.#commit();
    });
  }

  /** Runs one write's step. An error undoes that write alone, unless SQLite has undone the whole transaction. */
  #attempt(id: number, step: () => void): void {
    try {
      if (this.#broken !== undefined) throw this.#broken;
      step();
    } catch (error) {
      this.#failed(id, error, true);
    }
  }

  #failed(id: number, error: unknown, undo: boolean): void {
    if (isFatal(error) || this.#group.wasLost()) this.#break(error);
    else if (undo) this.#group.undo();
    this.#refuse(id, error);
    if (!this.#group.isOpen) this.#refuseQueue(error);
  }

  #commit(): void {
    if (this.#broken !== undefined) return;
    try {
      if (this.#group.commit()) this.#log.noteCommit();
      this.#port.flush();
      this.#log.tend();
    } catch (error) {
      this.#group.failCommit(error, isFatal(error));
      if (isFatal(error)) this.#break(error);
    }
  }

  #backup({ id, path }: BackupRequest): void {
    this.#attempt(id, () => {
      writeBackup(this.#connection.database, path);
      this.#port.send({ kind: 'reply', id, results: [] });
    });
  }

  /** Nothing is tried again on this connection: after a failed fsync a second one may succeed without having written anything. */
  #break(error: unknown): void {
    if (this.#broken !== undefined) return;
    this.#broken = error;
    this.#log.stop();
    this.#group.lose(error);
    this.#port.send({ kind: 'broken', error: toThreadError(error, { fatal: true }) });
    try {
      this.#connection.close();
    } catch {
      // The first error is the one that counts.
    }
  }

  #refuse(id: number, error: unknown): void {
    const fatal = isFatal(error) || this.#broken !== undefined;
    this.#port.send({ kind: 'reply', id, results: [], error: toThreadError(error, { fatal }) });
  }

  #close(): void {
    this.#log.stop();
    if (this.#broken === undefined) this.#connection.close();
    this.#port.close();
  }
}

/** Copies the database into `path`, which appears when it is whole and on disk. Replaces what was there. */
function writeBackup(database: Database.Database, path: string): void {
  // Two processes may migrate at once: neither takes away what the other writes.
  const part = `${path}.${randomUUID()}.part`;
  try {
    writePart(database, part);
    renameSync(part, path);
  } finally {
    rmSync(part, { force: true });
  }
  syncPath(dirname(path));
}

function writePart(database: Database.Database, part: string): void {
  // VACUUM INTO refuses a file with content, but takes an empty one, whose mode is then ours.
  closeSync(openSync(part, 'wx', 0o600));
  database.prepare('VACUUM INTO ?').run(part);
  syncPath(part);
}

function syncPath(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
