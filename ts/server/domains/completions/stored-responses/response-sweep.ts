/** Deletes expired responses, once at the start and then every hour. */
import type { Log } from '../../../platform/log/log.ts';
import { Repeater } from '../../../platform/repeater.ts';
import { systemScope } from '../../../platform/storage/index.ts';
import type { RetentionStore } from './retention-store.ts';

const INTERVAL_MS = 3_600_000;

export class ResponseSweep {
  readonly #repeater: Repeater;

  constructor(store: RetentionStore, log: Log) {
    this.#repeater = new Repeater({
      intervalMs: INTERVAL_MS,
      run: async () => {
        const nDeleted = await store.deleteExpired(systemScope(), Date.now());
        if (nDeleted > 0) log.info('expired responses were deleted', { responses: nDeleted });
      },
      onError: (error) => log.warn('expired responses could not be deleted', { error: String(error) }),
    });
  }

  start(): void {
    this.#repeater.start();
  }

  /** Resolves when a run that is under way has ended. */
  async stop(): Promise<void> {
    await this.#repeater.stop();
  }
}
