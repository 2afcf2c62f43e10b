/** What identity does from time to time: notes when credentials were used, removes expired ones, and notices what other processes changed. */
import type { Log } from '../../platform/log/log.ts';
import type { Tenants } from './accounts/tenants.ts';
import type { AuthenticationSwitch } from './authentication-switch.ts';
import type { ChangeFeed } from './changes/change-feed.ts';
import type { CredentialCache } from './credentials/credential-cache.ts';
import type { CredentialStore } from './credentials/credential-store.ts';

export interface MaintenanceDeps {
  authentication: AuthenticationSwitch;
  tenants: Tenants;
  credentials: CredentialStore;
  cache: CredentialCache;
  sessionIdleMs: number;
  changes: ChangeFeed;
  /** No other process uses the database. */
  isAlone: boolean;
  log: Log;
}

const NOTE_USES_MS = 60_000;
const NOTICE_OTHERS_MS = 1_000;
const REMOVE_EXPIRED_MS = 60 * 60_000;

export class Maintenance {
  readonly #deps: MaintenanceDeps;
  #timers: NodeJS.Timeout[] = [];
  #running: Promise<void> = Promise.resolve();

  constructor(deps: MaintenanceDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { authentication, tenants, credentials, changes, sessionIdleMs, isAlone } = this.#deps;
    this.#repeat(NOTE_USES_MS, () => this.#noteUses());
    this.#repeat(REMOVE_EXPIRED_MS, () => credentials.removeExpired(Date.now(), sessionIdleMs));
    if (isAlone) return;
    this.#repeat(NOTICE_OTHERS_MS, async () => {
      await authentication.refresh();
      await tenants.refresh();
      if (!changes.isLive) await changes.catchUp();
    });
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    await this.#running;
    await this.#attempt(() => this.#noteUses());
  }

  #noteUses(): Promise<void> {
    return this.#deps.credentials.writeLastUses(this.#deps.cache.takeLastUses());
  }

  #repeat(everyMs: number, work: () => Promise<void>): void {
    const timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#attempt(work));
    }, everyMs);
    this.#timers.push(timer.unref());
  }

  /** The next time may find the database again; requests are told of its state by themselves. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => this.#deps.log.warn('accounts could not be kept up to date', { error }));
  }
}
