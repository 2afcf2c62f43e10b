/**
 * Writes usage to disk: one write at a time, in which everything goes that came while the one before ran. A request that ended is written until
 * the database takes it; one that begins, or goes on, hears when that failed.
 */
import type { Log } from '../../../platform/log/log.ts';
import { StorageError, type SystemScope } from '../../../platform/storage/index.ts';
import type { OpenRequestRow } from '../tables.ts';
import type { EndedRequest, Extension, UsageBatch, UsageStore } from './usage-store.ts';

interface UsageJournalDeps {
  store: UsageStore;
  everyone: SystemScope;
  nodeId(): string;
  log: Log;
}

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

const RETRY_MS = 500;
/** While the database does not work and so many requests that ended wait for it, no further ones begin. */
const MOST_UNWRITTEN = 1_000;

export class UsageJournal {
  readonly #deps: UsageJournalDeps;
  /** Known once the node has opened its folder. */
  #nodeId: string | undefined;
  #opened = new Map<string, OpenRequestRow>();
  #extended = new Map<string, Extension>();
  #ended: EndedRequest[] = [];
  /** Counts those of the write that is under way. */
  #nBeingWritten = 0;
  #waiters: Waiter[] = [];
  /** Runs between two writes, when all that was taken is on disk. */
  #between: (() => Promise<void>)[] = [];
  #number = 0;
  #loop: Promise<void> | undefined;
  #isStopping = false;
  #hasFailed = false;

  constructor(deps: UsageJournalDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    this.#isStopping = false;
    const { store, everyone } = this.#deps;
    this.#number = await store.lastBatch(everyone, this.#node());
  }

  /** Writes what there is, as far as the database takes it now. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#loop;
  }

  #node(): string {
    this.#nodeId ??= this.#deps.nodeId();
    return this.#nodeId;
  }

  /** The request may have used so much when the process ends. Resolves when that is on disk. */
  open(row: Omit<OpenRequestRow, 'node'>): Promise<void> {
    this.#opened.set(row.id, { ...row, node: this.#node() });
    return this.#written();
  }

  /** Resolves when the greater amounts are on disk. */
  extend(extension: Extension): Promise<void> {
    this.#extended.set(extension.id, extension);
    return this.#written();
  }

  /** Resolves when it is on disk. A rejection says that it was not yet: it is tried again, and never forgotten. */
  end(request: EndedRequest): Promise<void> {
    this.#extended.delete(request.id);
    const isUnwritten = this.#opened.delete(request.id);
    this.#ended.push(isUnwritten ? { ...request, wasOpened: false } : request);
    return this.#written();
  }

  /** Resolves when all that came is on disk. */
  flush(): Promise<void> {
    return this.#isIdle() ? Promise.resolve() : this.#written();
  }

  /** What ended and is not on disk. Inside of `between()` that is what came since. */
  get unwritten(): readonly EndedRequest[] {
    return this.#ended;
  }

  /** Whether nothing may begin before the database works again. */
  get isBehind(): boolean {
    return this.#hasFailed && this.#ended.length + this.#nBeingWritten >= MOST_UNWRITTEN;
  }

  /** Runs `work` while no write is under way. */
  between<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#between.push(() => work().then(resolve, reject));
      this.#wake();
    });
  }

  #written(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#wake();
    });
  }

  #wake(): void {
    this.#loop ??= this.#run().finally(() => {
      this.#loop = undefined;
      if (!this.#isIdle() && !this.#isStopping) this.#wake();
    });
  }

  #isIdle(): boolean {
    const nWaiting = this.#opened.size + this.#extended.size + this.#ended.length + this.#waiters.length;
    return nWaiting === 0 && this.#between.length === 0 && this.#loop === undefined;
  }

  async #run(): Promise<void> {
    // What else comes in this turn goes along.
    await Promise.resolve();
    while (this.#waiters.length + this.#ended.length + this.#between.length > 0) {
      for (const work of this.#between.splice(0)) await work();
      if (await this.#writeOnce()) continue;
      if (this.#isStopping) return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** False: it has to be tried again. */
  async #writeOnce(): Promise<boolean> {
    const batch: UsageBatch = { opened: [...this.#opened.values()], extended: [...this.#extended.values()], ended: this.#ended };
    const waiters = this.#waiters;
    this.#opened = new Map();
    this.#extended = new Map();
    this.#ended = [];
    this.#waiters = [];
    this.#nBeingWritten = batch.ended.length;
    try {
      await this.#write(batch);
      this.#hasFailed = false;
      this.#nBeingWritten = 0;
      for (const { resolve } of waiters) resolve();
      return true;
    } catch (error) {
      // Those that began hear of it and end; what they used then comes as ended.
      this.#hasFailed = true;
      this.#ended = [...batch.ended, ...this.#ended];
      this.#nBeingWritten = 0;
      for (const { reject } of waiters) reject(error);
      this.#deps.log.error('usage was not written; it is tried again', { requests: this.#ended.length, error });
      return false;
    }
  }

  /** `mayRepeat`: a failover that lost the write ends no answer. */
  async #write(batch: UsageBatch, mayRepeat = true): Promise<void> {
    const { opened, extended, ended } = batch;
    if (opened.length + extended.length + ended.length === 0) return;
    const { store, everyone } = this.#deps;
    const number = this.#number + 1;
    try {
      await store.write(everyone, this.#node(), number, batch);
    } catch (error) {
      // Nobody may be charged twice: whether the write is there has to be known before it is repeated.
      if (!mayBeWritten(error)) throw error;
      if (!(await this.#wasWritten(number))) {
        if (!mayRepeat || this.#isStopping) throw error;
        return await this.#write(batch, false);
      }
    }
    this.#number = number;
  }

  async #wasWritten(number: number): Promise<boolean> {
    const { store, everyone } = this.#deps;
    for (;;) {
      const last = await store.lastBatch(everyone, this.#node()).catch(() => undefined);
      if (last !== undefined) return last >= number;
      if (this.#isStopping) return false;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** What became of it is not known, or the database has a batch of its number: the COMMIT of one that was given up came through late. */
function mayBeWritten(error: unknown): boolean {
  return error instanceof StorageError && (error.outcome === 'unknown' || error.code === 'constraint_violation');
}
