/** What metering does from time to time: shares its counters with other nodes, and removes what is not kept any longer. */
import type { Log } from '../../platform/log/log.ts';
import { Repeater } from '../../platform/repeater.ts';
import type { SystemScope } from '../../platform/storage/index.ts';
import type { SubjectRegistry } from './limits/subject-registry.ts';
import type { Quotas } from './quotas/quotas.ts';
import type { SharedWindows } from './shared/shared-windows.ts';
import type { UsageStore } from './usage/usage-store.ts';

interface MaintenanceDeps {
  quotas: Quotas;
  registry: SubjectRegistry;
  store: UsageStore;
  windows: SharedWindows;
  everyone: SystemScope;
  keepDays: number;
  /** No other process uses the database. */
  isAlone: boolean;
  now(): number;
  log: Log;
}

const EXCHANGE_MS = 500;
const UPKEEP_MS = 10 * 60_000;
const DAY_MS = 24 * 60 * 60 * 1000;

export class Maintenance {
  readonly #deps: MaintenanceDeps;
  readonly #exchange: Repeater;
  readonly #upkeep: Repeater;

  constructor(deps: MaintenanceDeps) {
    this.#deps = deps;
    const onError = (error: unknown) => deps.log.warn('quotas could not be shared with other nodes', { error });
    this.#exchange = new Repeater({ intervalMs: EXCHANGE_MS, run: () => this.#share(), onError });
    this.#upkeep = new Repeater({
      intervalMs: UPKEEP_MS,
      run: () => this.#keepUp(),
      onError: (error) => deps.log.warn('old usage could not be removed; it is tried again later', { error }),
    });
  }

  start(): void {
    if (!this.#deps.isAlone) this.#exchange.start();
    this.#upkeep.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#exchange.stop(), this.#upkeep.stop()]);
  }

  async #share(): Promise<void> {
    await this.#deps.quotas.refresh();
    await this.#deps.windows.exchange();
  }

  async #keepUp(): Promise<void> {
    const { registry, store, windows, everyone, keepDays, isAlone, now } = this.#deps;
    registry.prune();
    await store.removeBefore(everyone, now() - keepDays * DAY_MS);
    if (!isAlone) await windows.removeOld();
  }
}
