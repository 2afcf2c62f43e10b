/** Whether the node asks for credentials: off until there is an account, then on for good. */
import type { AuthenticationState } from '../../platform/http/authenticator.ts';
import type { Log } from '../../platform/log/log.ts';
import { systemScope } from '../../platform/storage/index.ts';
import type { SetupCode } from './credentials/setup-code.ts';
import { isEnforced } from './enforcement-fact.ts';
import type { IdentityStorage } from './tables.ts';

export class AuthenticationSwitch {
  readonly #storage: IdentityStorage;
  readonly #setupCode: SetupCode;
  readonly #log: Log;
  #state: AuthenticationState = 'off';

  constructor(storage: IdentityStorage, setupCode: SetupCode, log: Log) {
    this.#storage = storage;
    this.#setupCode = setupCode;
    this.#log = log;
  }

  get state(): AuthenticationState {
    return this.#state;
  }

  /** Reads the state, and shows the set-up code while there is no account. */
  async start(): Promise<void> {
    await this.refresh();
    if (this.#state === 'off') {
      const setup_code = this.#setupCode.issue();
      const message =
        'the node has no account: make the first one with `svc admin create`, or from another machine with the set-up code in X-Svc-Setup-Code';
      this.#log.warn(message, { setup_code });
    }
  }

  /** Another process on the same database may have made the first account. */
  async refresh(): Promise<void> {
    if (this.#state === 'enforce') return;
    if (await this.#storage.read(systemScope(), isEnforced)) this.enforce();
  }

  enforce(): void {
    if (this.#state === 'enforce') return;
    this.#state = 'enforce';
    this.#setupCode.withdraw();
    this.#log.info('authentication is on from now: every caller needs a key or a session');
  }
}
