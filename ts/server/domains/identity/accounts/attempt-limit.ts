/**
 * Limits guessing: how often may be tried within a window of time, counted before anything is computed. Whoever signed in before has windows of its
 * own, so that strangers who guess at an account lock out strangers alone.
 */

import { addressKey } from '../../../platform/network/address-key.ts';
import { type IdentityError, identityError } from '../errors.ts';
import { AttemptWindows } from './attempt-windows.ts';

interface AttemptLimitOptions {
  /** Attempts of one client for one account: from one address, or with one browser that signed in before. */
  perClient: number;
  /** For one account, of all clients that it does not know. */
  perAccount: number;
  /** Of one address, for all accounts that do not know it. */
  perAddress: number;
  windowMs: number;
  /** Of `perAccount`. Longer than the others, it keeps guessing from many addresses slow. By default as long. */
  accountWindowMs?: number;
  now?: () => number;
}

export interface Attempt {
  /** Id of the account that is guessed at, a name that none has, or what else is asked for. */
  readonly account: string;
  readonly remoteAddress: string;
  /** Id of a browser that signed in to the account before; undefined: it shows none. */
  readonly device?: string | undefined;
}

export interface CountedAttempt {
  /** The client proved who it is: it was no guess, and its mistakes before it no longer count. Those of others do. */
  succeeded(): void;
}

type Counter = readonly [windows: AttemptWindows, key: string];

export class AttemptLimit {
  readonly #clients: AttemptWindows;
  readonly #accounts: AttemptWindows;
  readonly #addresses: AttemptWindows;
  readonly #known = new KnownClients();

  constructor(options: AttemptLimitOptions) {
    const { perClient, perAccount, perAddress, windowMs, accountWindowMs = windowMs, now = Date.now } = options;
    this.#clients = new AttemptWindows({ limit: perClient, windowMs, now });
    this.#accounts = new AttemptWindows({ limit: perAccount, windowMs: accountWindowMs, now });
    this.#addresses = new AttemptWindows({ limit: perAddress, windowMs, now });
  }

  /**
   * Throws `too_many_attempts` with the time to wait. A window ends by itself, so nobody is locked out for good. What is refused is not counted:
   * an address at its limit cannot fill the windows of accounts with names that it makes up.
   */
  count(attempt: Attempt): CountedAttempt {
    return this.#count(attempt, [this.#addressCounter(attempt), [this.#accounts, attempt.account]]);
  }

  /** Like `count`, for what has no account to be guessed at: what strangers do elsewhere must not close it to everybody. */
  countClient(attempt: Attempt): CountedAttempt {
    return this.#count(attempt, [this.#addressCounter(attempt)]);
  }

  /** Like `count`, where the address was counted already. */
  countAccount(attempt: Attempt): CountedAttempt {
    return this.#count(attempt, [[this.#accounts, attempt.account]]);
  }

  /** The account was signed in to from there before. */
  know(attempt: Attempt): void {
    this.#known.add(addressOfAccount(attempt));
  }

  #count(attempt: Attempt, ofStrangers: readonly Counter[]): CountedAttempt {
    const counters = this.#countersOf(attempt, ofStrangers);
    requireNoWait(Math.max(...counters.map(([windows, key]) => windows.waitMs(key))));
    for (const [windows, key] of counters) windows.count(key);
    return {
      succeeded: () => {
        for (const [windows, key] of counters) windows.takeBack(key);
        for (const key of clientKeys(attempt)) this.#clients.forget(key);
      },
    };
  }

  #countersOf(attempt: Attempt, ofStrangers: readonly Counter[]): readonly Counter[] {
    const pair = addressOfAccount(attempt);
    const device = deviceOfAccount(attempt);
    // A browser that guessed too often is a stranger.
    if (device !== undefined && this.#clients.waitMs(device) === 0) return [[this.#clients, device]];
    return [[this.#clients, pair], ...(this.#known.has(pair) ? [] : ofStrangers)];
  }

  #addressCounter({ remoteAddress }: Attempt): Counter {
    return [this.#addresses, addressKey(remoteAddress)];
  }
}

function clientKeys(attempt: Attempt): string[] {
  const device = deviceOfAccount(attempt);
  return [addressOfAccount(attempt), ...(device === undefined ? [] : [device])];
}

function addressOfAccount({ account, remoteAddress }: Attempt): string {
  return `${account} from ${addressKey(remoteAddress)}`;
}

function deviceOfAccount({ account, device }: Attempt): string | undefined {
  return device === undefined ? undefined : `${account} with ${device}`;
}

function requireNoWait(ms: number): void {
  if (ms > 0) throw tooManyAttempts(ms);
}

function tooManyAttempts(waitMs: number): IdentityError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const detail =
    `Too many attempts for this account or from this address. Wait ${seconds} seconds, then try again; ` +
    'a browser that was signed in before need not wait for what others tried.';
  return identityError('too_many_attempts', detail, { retryAfterMs: seconds * 1000 });
}

const MAX_CLIENTS = 20_000;

/** Knows which clients signed in before, by keys. The longest unused are forgotten when there are too many. */
export class KnownClients {
  /** In the order of their last use. */
  readonly #keys = new Set<string>();

  has(key: string): boolean {
    if (!this.#keys.delete(key)) return false;
    this.#keys.add(key);
    return true;
  }

  add(key: string): void {
    this.#keys.delete(key);
    const [oldest] = this.#keys.size >= MAX_CLIENTS ? this.#keys : [];
    if (oldest !== undefined) this.#keys.delete(oldest);
    this.#keys.add(key);
  }
}
