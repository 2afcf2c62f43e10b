/** How often each of many names tried lately. Names are chosen by strangers, so their number is bounded. */

interface AttemptWindowsOptions {
  /** Attempts in a window. */
  limit: number;
  windowMs: number;
  now: () => number;
}

interface Window {
  endsAt: number;
  attempts: number;
}

const MAX_WINDOWS = 20_000;

export class AttemptWindows {
  readonly #options: AttemptWindowsOptions;
  /** A map keeps the order of insertion, and all windows are equally long: the first one ends first. */
  readonly #windows = new Map<string, Window>();

  constructor(options: AttemptWindowsOptions) {
    this.#options = options;
  }

  /** Milliseconds until another attempt is allowed; 0: now. Looking makes no window. */
  waitMs(key: string): number {
    const window = this.#windows.get(key);
    if (window === undefined || window.attempts < this.#options.limit) return 0;
    return Math.max(0, window.endsAt - this.#options.now());
  }

  count(key: string): void {
    const now = this.#options.now();
    const known = this.#windows.get(key);
    if (known !== undefined && known.endsAt > now) {
      known.attempts += 1;
      return;
    }
    this.#windows.delete(key);
    if (this.#windows.size >= MAX_WINDOWS) this.#evict(now);
    this.#windows.set(key, { endsAt: now + this.#options.windowMs, attempts: 1 });
  }

  /** One attempt is counted no longer. */
  takeBack(key: string): void {
    const known = this.#windows.get(key);
    if (known !== undefined && known.attempts > 0) known.attempts -= 1;
  }

  forget(key: string): void {
    this.#windows.delete(key);
  }

  /** A window that is over, else the least used and of those the oldest: a flood of fresh names costs its own windows before others'. */
  #evict(now: number): void {
    let victim: [key: string, window: Window] | undefined;
    for (const entry of this.#windows) {
      if (victim === undefined || entry[1].attempts < victim[1].attempts) victim = entry;
      if (victim[1].endsAt <= now || victim[1].attempts === 1) break;
    }
    if (victim !== undefined) this.#windows.delete(victim[0]);
  }
}
