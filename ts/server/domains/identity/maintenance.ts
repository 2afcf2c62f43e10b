/** What identity does from time to time: notes when credentials were used, removes expired ones, and notices what other processes changed. */
import type { Log } from '../../platform/log/log.ts';
import { Repeater } from '../../platform/repeater.ts';
import type { Tenants } from './accounts/tenants.ts';
import type { ChangeFeed } from './changes/change-feed.ts';
import type { CredentialCache } from './credentials/credential-cache.ts';
import type { CredentialStore } from './credentials/credential-store.ts';
import type { AuthenticationSwitch } from './identity-authenticator.ts';

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
  #repeaters: Repeater[] = [];

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
    await Promise.all(this.#repeaters.map((repeater) => repeater.stop()));
    this.#repeaters = [];
    await this.#noteUses().catch(this.#onError);
  }

  #noteUses(): Promise<void> {
    return this.#deps.credentials.writeLastUses(this.#deps.cache.takeLastUses());
  }

  /** Waits for one run to end before the next: a database that hangs must not find a queue of them when it goes on. */
  #repeat(intervalMs: number, run: () => Promise<void>): void {
    const repeater = new Repeater({ intervalMs, run, onError: this.#onError });
    this.#repeaters.push(repeater);
    repeater.start();
  }

  /** The next time may find the database again; requests are told of its state by themselves. */
  readonly #onError = (error: unknown): void => this.#deps.log.warn('accounts could not be kept up to date', { error });
}
