/**
 * The threads that read one SQLite file, and which of them a read transaction runs on. SQLite runs a statement to its end, and its thread
 * answers nobody else meanwhile: so a tenant uses all threads but one, and a thread whose statement takes too long is replaced.
 */
import type { Worker } from 'node:worker_threads';
import { type SpareThreads, startThread } from './spare-threads.ts';
import { SqliteThread, type ThreadListener } from './sqlite-thread.ts';
import type { ReaderRequest } from './thread-messages.ts';

const MAX_READERS = 3;
/** A thread that has not answered for so long may not do so for long. */
const SLOW_STATEMENT_MS = 5;
/** A thread that was given up takes a core until its statement is over; with so many of them, no further one is given up. */
const MAX_GIVEN_UP = 3;

/** What makes a thread less welcome than transactions of the same tenant do: that it has still to start, those of others, and a slow statement. */
const STARTING = 500;
const FOREIGN = 1_000;
const SLOW = 1e9;

export interface ReaderThread {
  readonly thread: SqliteThread<ReaderRequest>;
  isOpen: boolean;
  /** Transactions that run on it, by tenant; the system's have none. */
  readonly transactions: Map<string | undefined, number>;
}

export class ReaderThreads {
  readonly #file: string;
  readonly #listener: ThreadListener;
  #threads: ReaderThread[] = [];
  #nGivenUp = 0;

  /** Starts one thread; the others are started when they are needed. */
  constructor(file: string, listener: ThreadListener, spare: SpareThreads) {
    this.#file = file;
    this.#listener = listener;
    this.#add(spare.take('reader'));
  }

  async opened(): Promise<void> {
    await this.#threads[0]?.thread.opened();
  }

  /** The thread for a transaction, which `leave()` takes back. */
  enter(tenant: string | undefined): ReaderThread {
    this.#threads = this.#threads.filter(({ thread }) => !thread.isOver);
    const reader = this.#choose(tenant);
    reader.transactions.set(tenant, (reader.transactions.get(tenant) ?? 0) + 1);
    return reader;
  }

  leave({ transactions }: ReaderThread, tenant: string | undefined): void {
    const left = (transactions.get(tenant) ?? 0) - 1;
    if (left > 0) transactions.set(tenant, left);
    else transactions.delete(tenant);
  }

  /** Replaces the thread if it runs a statement of this transaction, and so will answer nobody until that is over. */
  giveUp({ thread }: ReaderThread, transaction: number): void {
    if (thread.isOver || thread.runningFor !== transaction || this.#nGivenUp >= MAX_GIVEN_UP) return;
    this.#nGivenUp += 1;
    void thread.giveUp().finally(() => {
      this.#nGivenUp -= 1;
    });
  }

  async close(force: boolean): Promise<void> {
    await Promise.all(this.#threads.map(({ thread }) => thread.end(force ? undefined : { kind: 'close' })));
  }

  #choose(tenant: string | undefined): ReaderThread {
    const own = tenant === undefined ? [] : this.#threads.filter(({ transactions }) => transactions.has(tenant));
    const isConfined = own.length >= MAX_READERS - 1;
    const best = leastLoaded(isConfined ? own : this.#threads, tenant);
    if (best !== undefined && (isConfined || this.#threads.length === MAX_READERS || loadOf(best, tenant) <= STARTING))
      return best;
    return this.#add(startThread('reader'));
  }

  #add(worker: Worker): ReaderThread {
    const thread = new SqliteThread<ReaderRequest>(worker, { file: this.#file, recover: false }, this.#listener);
    const reader: ReaderThread = { thread, isOpen: false, transactions: new Map() };
    thread.opened().then(
      () => {
        reader.isOpen = true;
      },
      // Whoever asks it is refused, and its owner is told.
      () => undefined,
    );
    this.#threads.push(reader);
    return reader;
  }
}

function leastLoaded(threads: readonly ReaderThread[], tenant: string | undefined): ReaderThread | undefined {
  return threads.toSorted((a, b) => loadOf(a, tenant) - loadOf(b, tenant))[0];
}

function loadOf({ thread, isOpen, transactions }: ReaderThread, tenant: string | undefined): number {
  let load = isOpen ? 0 : STARTING;
  for (const [other, n] of transactions) load += other === tenant ? n : n * FOREIGN;
  if (isOpen && thread.waitedMs > SLOW_STATEMENT_MS) load += SLOW + thread.waitedMs;
  return load;
}
