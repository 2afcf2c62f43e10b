/** How many requests a backend takes: at once, by the minute, and not before the time that it named. Those that wait go in turn by tenant. */

export interface PaceLimits {
  readonly concurrent: number | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
}

interface Waiter {
  readonly nTokens: number;
  admit(): void;
}

const MINUTE_MS = 60_000;
const MOST_WAITING = 1_000;

export class Pace {
  readonly #now: () => number;
  #limits: PaceLimits;
  #blockedUntil = 0;
  #nRunning = 0;
  #spent: { at: number; nTokens: number }[] = [];
  /** Tenants in the order of their turns. */
  readonly #waiting = new Map<string, Waiter[]>();
  #nWaiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: PaceLimits, now: () => number = Date.now) {
    this.#limits = limits;
    this.#now = now;
  }

  get nWaiting(): number {
    return this.#nWaiting;
  }

  get nRunning(): number {
    return this.#nRunning;
  }

  replaceLimits(limits: PaceLimits): void {
    this.#limits = limits;
    this.#admit();
  }

  /** The provider asked to be left alone for so long. */
  block(ms: number): void {
    this.#blockedUntil = Math.max(this.#blockedUntil, this.#now() + ms);
  }

  unblock(): void {
    this.#blockedUntil = 0;
    this.#admit();
  }

  /** Milliseconds that a request waits for at least; undefined: until another one ends. */
  waitMs(nTokens: number): number | undefined {
    if (this.#limits.concurrent !== null && this.#nRunning >= this.#limits.concurrent) return undefined;
    return Math.max(this.#blockedUntil - this.#now(), this.#untilFree(nTokens), 0);
  }

  /** The function that ends the request's place; undefined: it has to wait. */
  acquireNow(nTokens: number): (() => void) | undefined {
    if (this.#nWaiting > 0 || this.waitMs(nTokens) !== 0) return undefined;
    this.#take(nTokens);
    return this.#place();
  }

  /** Resolves with the function that ends the request's place. Rejects with the signal's reason, or at once where too many wait: undefined. */
  async acquire(tenant: string, nTokens: number, signal: AbortSignal): Promise<(() => void) | undefined> {
    signal.throwIfAborted();
    const free = this.acquireNow(nTokens);
    if (free !== undefined) return free;
    if (this.#nWaiting >= MOST_WAITING) return undefined;
    await this.#wait(tenant, nTokens, signal);
    return this.#place();
  }

  #place(): () => void {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#nRunning -= 1;
      this.#admit();
    };
  }

  #wait(tenant: string, nTokens: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#remove(tenant, waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        nTokens,
        admit: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      const queue = this.#waiting.get(tenant);
      if (queue === undefined) this.#waiting.set(tenant, [waiter]);
      else queue.push(waiter);
      this.#nWaiting += 1;
      this.#admit();
    });
  }

  #remove(tenant: string, waiter: Waiter): void {
    const queue = this.#waiting.get(tenant)?.filter((one) => one !== waiter) ?? [];
    this.#nWaiting -= 1;
    if (queue.length > 0) this.#waiting.set(tenant, queue);
    else this.#waiting.delete(tenant);
  }

  #admit(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      const [tenant, queue] = first;
      const waiter = queue[0] as Waiter;
      const waitMs = this.waitMs(waiter.nTokens);
      if (waitMs === undefined) return;
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#admit(), Math.min(waitMs, MINUTE_MS));
        this.#timer.unref();
        return;
      }
      queue.shift();
      this.#nWaiting -= 1;
      this.#waiting.delete(tenant);
      // Behind all others that wait.
      if (queue.length > 0) this.#waiting.set(tenant, queue);
      this.#take(waiter.nTokens);
      waiter.admit();
    }
  }

  #take(nTokens: number): void {
    this.#nRunning += 1;
    if (this.#limits.requests_per_minute === null && this.#limits.tokens_per_minute === null) return;
    this.#spent.push({ at: this.#now(), nTokens });
  }

  /** A request that is larger than the whole limit goes when nothing else was spent. */
  #untilFree(nTokens: number): number {
    const { requests_per_minute: requests, tokens_per_minute: tokens } = this.#limits;
    if (requests === null && tokens === null) return 0;
    const now = this.#now();
    while (this.#spent[0] !== undefined && this.#spent[0].at <= now - MINUTE_MS) this.#spent.shift();
    let nRequests = this.#spent.length;
    let nSpent = this.#spent.reduce((sum, entry) => sum + entry.nTokens, 0);
    for (const entry of [undefined, ...this.#spent]) {
      if (entry !== undefined) {
        nRequests -= 1;
        nSpent -= entry.nTokens;
      }
      const fits = (requests === null || nRequests < requests) && (tokens === null || nSpent === 0 || nSpent + nTokens <= tokens);
      if (fits) return entry === undefined ? 0 : entry.at + MINUTE_MS - now + 1;
    }
    return 0;
  }
}
