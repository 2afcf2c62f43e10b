/** Removes what a crash left half erased, and temporary conversations whose time is over, while the module runs. */
import type { Log } from '../../platform/log/log.ts';
import type { Storage } from '../../platform/storage/index.ts';
import { sweepScope } from './owner.ts';
import { ErasureStore } from './store/erasure-store.ts';

const INTERVAL_MS = 10 * 60_000;

export class Sweep {
  readonly #storage: Storage;
  readonly #log: Log;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(storage: Storage, log: Log) {
    this.#storage = storage;
    this.#log = log;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#begin(), INTERVAL_MS).unref();
    this.#begin();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#running;
  }

  /** Throws StorageError. */
  async run(now = Date.now()): Promise<void> {
    const erasure = new ErasureStore(this.#storage);
    await erasure.detachExpired(sweepScope(), now);
    await erasure.removeDetached(sweepScope());
  }

  #begin(): void {
    this.#running ??= this.run()
      .catch((error: unknown) => this.#log.warn('expired conversations could not be removed; it is tried again later', { error }))
      .finally(() => {
        this.#running = undefined;
      });
  }
}
