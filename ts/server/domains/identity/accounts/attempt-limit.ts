/** Limits guessing: how often an address or an account may try within a window of time, counted before anything is computed. */
import { isIPv6 } from 'node:net';
import { type IdentityError, identityError } from '../errors.ts';

export interface AttemptLimitOptions {
  /** Attempts in a window for one account, and for one client address. */
  perAccount: number;
  perAddress: number;
  windowMs: number;
  now?: () => number;
}

interface Window {
  endsAt: number;
  attempts: number;
}

/** Names are chosen by strangers; beyond this many the oldest windows are forgotten. */
const MAX_WINDOWS = 20_000;

export class AttemptLimit {
  readonly #options: AttemptLimitOptions;
  readonly #windows = new Map<string, Window>();
  readonly #now: () => number;

  constructor(options: AttemptLimitOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Throws `too_many_attempts` with the time to wait. A window ends by itself, so no account can be locked for good. */
  count(account: string, remoteAddress: string): void {
    const windows = [
      [this.#window(`account ${account}`), this.#options.perAccount],
      [this.#window(`address ${addressKey(remoteAddress)}`), this.#options.perAddress],
    ] as const;
    const full = windows.filter(([{ attempts }, limit]) => attempts >= limit).map(([{ endsAt }]) => endsAt);
    if (full.length > 0) throw tooManyAttempts(Math.max(...full) - this.#now());
    for (const [window] of windows) window.attempts += 1;
  }

  /** Like `count`, where no address is to be blamed. */
  countAccount(account: string): void {
    const window = this.#window(`account ${account}`);
    if (window.attempts >= this.#options.perAccount) throw tooManyAttempts(window.endsAt - this.#now());
    window.attempts += 1;
  }

  /** The account proved who it is: its earlier mistakes no longer count. Those of the address do. */
  succeeded(account: string): void {
    this.#windows.delete(`account ${account}`);
  }

  #window(key: string): Window {
    const known = this.#windows.get(key);
    if (known !== undefined && known.endsAt > this.#now()) return known;
    this.#windows.delete(key);
    if (this.#windows.size >= MAX_WINDOWS) this.#forgetOldest();
    const window = { endsAt: this.#now() + this.#options.windowMs, attempts: 0 };
    this.#windows.set(key, window);
    return window;
  }

  /** A map keeps the order of insertion, and all windows are equally long: the first one ends first. */
  #forgetOldest(): void {
    const [oldest] = this.#windows.keys();
    if (oldest !== undefined) this.#windows.delete(oldest);
  }
}

/** A customer of a provider has a whole /64 of IPv6 addresses, so they count as one. */
function addressKey(address: string): string {
  // An IPv4 client of a listener that takes both is written as ::ffff:a.b.c.d.
  if (!isIPv6(address) || /^[0:]*:ffff:/i.test(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const nMissing = address.includes('::') ? 8 - groups.length - tail.split(':').filter((group) => group !== '').length : 0;
  return [...groups, ...Array<string>(Math.max(0, nMissing)).fill('0'), ...tail.split(':')]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}

function tooManyAttempts(waitMs: number): IdentityError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const detail = `Too many attempts for this account or from this address. Wait ${seconds} seconds, then try again.`;
  return identityError('too_many_attempts', detail, { retryAfterMs: seconds * 1000 });
}
