/** Writes decisions soon after they were made, together with those that come meanwhile. */
import type { Log } from '../../platform/log/log.ts';
import type { StorageScope, SystemScope } from '../../platform/storage/index.ts';
import type { DecisionStore } from './decision-store.ts';
import type { DecisionRow } from './tables.ts';

interface DecisionsDeps {
  store: DecisionStore;
  everyone: SystemScope;
  log: Log;
}

/** Callers can provoke decisions; of more that wait to be written the log tells the number. */
const MAX_WAITING = 1_000;
const KEEP_MS = 30 * 24 * 60 * 60 * 1000;

export class Decisions {
  readonly #deps: DecisionsDeps;
  #waiting: Omit<DecisionRow, 'seq'>[] = [];
  #nLeftOut = 0;
  #writing: Promise<void> | undefined;

  constructor(deps: DecisionsDeps) {
    this.#deps = deps;
  }

  add(decision: Omit<DecisionRow, 'seq'>): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#nLeftOut += 1;
      return;
    }
    this.#waiting.push(decision);
    this.#writing ??= this.#writeAll();
  }

  async list(scope: StorageScope, page: { after: number | undefined; limit: number }): Promise<DecisionRow[]> {
    await this.flush();
    return this.#deps.store.list(scope, page);
  }

  /** Resolves when all that was added is on disk, or could not be written. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async removeOld(): Promise<void> {
    await this.#deps.store.removeBefore(this.#deps.everyone, Date.now() - KEEP_MS);
  }

  async #writeAll(): Promise<void> {
    const { store, everyone, log } = this.#deps;
    while (this.#waiting.length > 0) {
      const rows = this.#waiting;
      this.#waiting = [];
      if (this.#nLeftOut > 0) log.warn('decisions of role enforcement were not written: too many at once', { n: this.#nLeftOut });
      this.#nLeftOut = 0;
      await store
        .add(everyone, rows)
        .catch((error: unknown) => log.error('decisions of role enforcement were not written', { n: rows.length, error }));
    }
    this.#writing = undefined;
  }
}
