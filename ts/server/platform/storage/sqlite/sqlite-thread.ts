/** The JS thread's end of the line to one SQLite thread: what is posted within one turn of the event loop goes as one message. */
import type { Worker } from 'node:worker_threads';
import type { StatementResult } from '../statement.ts';
import { StorageError } from '../storage-error.ts';
import { toStorageError } from './sqlite-failure.ts';
import type { BrokenEvent, CommitEvent, Reply, ThreadData, ThreadError, ThreadEvent } from './thread-messages.ts';

interface PendingReply {
  /** By performance.now(). */
  readonly askedAt: number;
  readonly transaction: number | undefined;
  resolve(results: readonly StatementResult[]): void;
  reject(error: StorageError): void;
}

export interface ThreadListener {
  /** The thread's connection is of no use any more; what it was asked has been or will be refused. */
  onBroken(error: StorageError): void;
  onCommit(commit: CommitEvent): void;
}

export class SqliteThread<Request> {
  readonly #worker: Worker;
  readonly #listener: ThreadListener;
  readonly #pending = new Map<number, PendingReply>();
  readonly #ended: Promise<void>;
  readonly #opened = Promise.withResolvers<void>();
  #outbox: Request[] = [];
  #lastId = 0;
  #isOver = false;
  #isEndExpected = false;
  #isGivenUp = false;

  /** `worker` has just been started and was told nothing. */
  constructor(worker: Worker, data: ThreadData, listener: ThreadListener) {
    this.#listener = listener;
    this.#worker = worker;
    this.#worker.on('message', (events: ThreadEvent[]) => {
      for (const event of events) this.#receive(event);
    });
    this.#worker.on('error', (error) => this.#lose(error));
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#lose(undefined);
        resolve();
      });
    });
    this.#opened.promise.catch(() => undefined);
    this.#worker.postMessage(data);
  }

  /** Whether the thread is gone. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether it was ended though it had not answered all that it was asked. */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** How long the oldest request without an answer waits. They are answered in their order. */
  get waitedMs(): number {
    const [oldest] = this.#pending.values();
    return oldest === undefined ? 0 : performance.now() - oldest.askedAt;
  }

  /** The transaction that it belongs to. */
  get runningFor(): number | undefined {
    const [oldest] = this.#pending.values();
    return oldest?.transaction;
  }

  /** Resolves when the database is open; rejects with a StorageError when it cannot be opened. */
  opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** Posts a request that is answered. */
  ask(make: (id: number) => Request): Promise<readonly StatementResult[]> {
    this.#lastId += 1;
    const id = this.#lastId;
    const request = make(id);
    const transaction =
      typeof request === 'object' && request !== null && 'transaction' in request ? request.transaction : undefined;
    const { promise, resolve, reject } = Promise.withResolvers<readonly StatementResult[]>();
    this.#pending.set(id, { resolve, reject, askedAt: performance.now(), transaction: transaction as number | undefined });
    this.tell(request);
    return promise;
  }

  /** Posts a request that nothing answers. */
  tell(request: Request): void {
    if (this.#isOver) {
      this.#refuseAll(undefined);
      return;
    }
    if (this.#outbox.length === 0) setImmediate(() => this.#flush());
    this.#outbox.push(request);
  }

  /** Resolves when the thread is gone. `farewell` lets it finish what it was asked; without one it is stopped. */
  async end(farewell?: Request): Promise<void> {
    this.#isEndExpected = true;
    if (farewell !== undefined && !this.#isOver) {
      this.tell(farewell);
      await this.#ended;
    }
    await this.#worker.terminate();
  }

  /** Refuses what it was asked. Resolves when the thread is gone: no statement of SQLite is interrupted, so one that runs is ended first. */
  async giveUp(): Promise<void> {
    this.#isEndExpected = true;
    this.#isGivenUp = true;
    this.#lose(undefined);
    await this.#worker.terminate();
  }

  #flush(): void {
    const batch = this.#outbox;
    this.#outbox = [];
    if (!this.#isOver) this.#worker.postMessage(batch);
  }

  #receive(event: ThreadEvent): void {
    if (event.kind === 'reply') this.#settle(event);
    else if (event.kind === 'opened') this.#opened.resolve();
    else if (event.kind === 'commit') this.#listener.onCommit(event);
    else this.#break(event);
  }

  #settle({ id, results, error }: Reply): void {
    const reply = this.#pending.get(id);
    this.#pending.delete(id);
    if (error) this.#refuse(reply, error);
    else reply?.resolve(results);
  }

  #refuse(reply: PendingReply | undefined, error: ThreadError): void {
    const failure = toStorageError(error);
    reply?.reject(failure);
    if (error.fatal) this.#listener.onBroken(failure);
  }

  #break({ error }: BrokenEvent): void {
    this.#opened.reject(toStorageError(error));
    this.#listener.onBroken(toStorageError(error));
  }

  /** The thread is gone, and with it what it knew about the writes that it was asked for. */
  #lose(cause: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#refuseAll(cause);
    this.#opened.reject(unavailable(cause));
    if (!this.#isEndExpected) this.#listener.onBroken(unavailable(cause));
  }

  #refuseAll(cause: unknown): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const reply of pending) reply.reject(unavailable(cause));
  }
}

function unavailable(cause: unknown): StorageError {
  return new StorageError('storage_unavailable', 'The thread of the database ended before it answered.', {
    remedy: 'The server reopens the database by itself. See the log for the cause.',
    outcome: 'unknown',
    cause,
  });
}
