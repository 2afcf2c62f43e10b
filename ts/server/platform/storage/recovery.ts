/** From the I/O error that stops writes to the moment the database is open and verified again. */
import { setTimeout as wait } from 'node:timers/promises';
import { linkSignals } from '../linked-signal.ts';
import { StorageError } from './storage-error.ts';
import type { ResolvedStorageOptions } from './storage-options.ts';

export class Recovery {
  readonly #options: ResolvedStorageOptions;
  readonly #reopen: () => Promise<void>;
  readonly #stopped = new AbortController();
  #error: StorageError | undefined;
  #running: Promise<void> = Promise.resolve();

  /** `reopen` closes what is there, opens and verifies the database, and throws while that is not possible. */
  constructor(options: ResolvedStorageOptions, reopen: () => Promise<void>) {
    this.#options = options;
    this.#reopen = reopen;
  }

  /** Why writes are stopped; the newest reason. */
  get error(): StorageError | undefined {
    return this.#error;
  }

  /** Throws while writes are stopped. */
  check(): void {
    if (!this.#error) return;
    throw new StorageError('storage_unavailable', this.#error.message, { remedy: this.#error.remedy, cause: this.#error });
  }

  /** Resolves once writes work again: with false where that takes longer, or is given up. */
  async isOverWithin(limitMs: number): Promise<boolean> {
    const { signal } = this.#stopped;
    if (this.#error === undefined || limitMs <= 0) return this.#error === undefined && !signal.aborted;
    const over = new AbortController();
    const either = linkSignals(signal, over.signal);
    const limit = wait(limitMs, undefined, { signal: either.signal }).catch(() => undefined);
    await Promise.race([this.#running, limit]);
    over.abort();
    return this.#error === undefined && !signal.aborted;
  }

  begin(error: StorageError): void {
    if (this.#error || this.#stopped.signal.aborted) return;
    this.#error = error;
    this.#options.observer.onIoError?.(error);
    this.#running = this.#run();
  }

  /** Stops trying. The error stays. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const startedAt = performance.now();
    const { first, longest } = this.#options.reopenDelayMs;
    for (let delayMs = first; !this.#stopped.signal.aborted; delayMs = Math.min(2 * delayMs, longest)) {
      await wait(delayMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
      if (this.#stopped.signal.aborted || !(await this.#attempt())) continue;
      this.#error = undefined;
      this.#options.observer.onRecovered?.({ durationMs: performance.now() - startedAt });
      return;
    }
  }

  async #attempt(): Promise<boolean> {
    try {
      await this.#reopen();
      return true;
    } catch (error) {
      if (error instanceof StorageError) this.#error = error;
      return false;
    }
  }
}
