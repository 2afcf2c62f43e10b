/** Limits guessing: how often an address or an account may try within a window of time, counted before anything is computed. */
import { type IdentityError, identityError } from '../errors.ts';
import { addressKey } from './address-key.ts';
import { AttemptWindows } from './attempt-windows.ts';

export interface AttemptLimitOptions {
  /** Attempts in a window for one account, and for one client address. */
  perAccount: number;
  perAddress: number;
  windowMs: number;
  now?: () => number;
}

export class AttemptLimit {
  readonly #accounts: AttemptWindows;
  readonly #addresses: AttemptWindows;

  constructor({ perAccount, perAddress, windowMs, now = Date.now }: AttemptLimitOptions) {
    this.#accounts = new AttemptWindows({ limit: perAccount, windowMs, now });
    this.#addresses = new AttemptWindows({ limit: perAddress, windowMs, now });
  }

  /**
   * Throws `too_many_attempts` with the time to wait. A window ends by itself, so no account can be locked for good. What is refused is not counted:
   * an address at its limit cannot fill the windows of accounts with names that it makes up.
   */
  count(account: string, remoteAddress: string): void {
    const address = addressKey(remoteAddress);
    requireNoWait(Math.max(this.#addresses.waitMs(address), this.#accounts.waitMs(account)));
    this.#addresses.count(address);
    this.#accounts.count(account);
  }

  /** Like `count`, where no address is to be blamed. */
  countAccount(account: string): void {
    requireNoWait(this.#accounts.waitMs(account));
    this.#accounts.count(account);
  }

  /** The account proved who it is: its earlier mistakes no longer count. Those of the address do. */
  succeeded(account: string): void {
    this.#accounts.forget(account);
  }
}

function requireNoWait(ms: number): void {
  if (ms > 0) throw tooManyAttempts(ms);
}

function tooManyAttempts(waitMs: number): IdentityError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const detail = `Too many attempts for this account or from this address. Wait ${seconds} seconds, then try again.`;
  return identityError('too_many_attempts', detail, { retryAfterMs: seconds * 1000 });
}
