/** Removes what a crash left half erased, and temporary conversations whose time is over, while the module runs. */
import type { Log } from '../../platform/log/log.ts';
import { Repeater } from '../../platform/repeater.ts';
import { type Storage, systemScope } from '../../platform/storage/index.ts';
import { ErasureStore, type FilesEraser } from './store/erasure-store.ts';

const INTERVAL_MS = 10 * 60_000;

export class Sweep {
  readonly #erasure: ErasureStore;
  readonly #repeater: Repeater;

  constructor(storage: Storage, log: Log, files?: FilesEraser) {
    this.#erasure = new ErasureStore(storage, files);
    this.#repeater = new Repeater({
      intervalMs: INTERVAL_MS,
      run: () => this.run(),
      onError: (error) => log.warn('expired conversations could not be removed; it is tried again later', { error }),
    });
  }

  start(): void {
    this.#repeater.start();
  }

  async stop(): Promise<void> {
    await this.#repeater.stop();
  }

  /** Throws StorageError. */
  async run(now = Date.now()): Promise<void> {
    const everyone = systemScope();
    await this.#erasure.detachExpired(everyone, now);
    await this.#erasure.removeDetached(everyone);
  }
}
