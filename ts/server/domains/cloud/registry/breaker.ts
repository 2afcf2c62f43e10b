/** Keeps requests from a backend's model that fails, and lets one through now and then to see whether it works again. */
const FAILURES_IN_A_ROW = 5;
const LEAST_SAMPLES = 10;
const WINDOW_MS = 30_000;
const OPEN_MS = 10_000;

type BreakerState = 'closed' | 'open' | 'probing';

export class Breaker {
  readonly #now: () => number;
  #openUntil = 0;
  #isProbing = false;
  #inARow = 0;
  #samples: { at: number; hasFailed: boolean }[] = [];

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  get state(): BreakerState {
    if (this.#openUntil === 0) return 'closed';
    return this.#isProbing ? 'probing' : 'open';
  }

  /** Whether a request may go there now; take() is called when it does. */
  get isUsable(): boolean {
    return this.#openUntil === 0 || (!this.#isProbing && this.#now() >= this.#openUntil);
  }

  /** Milliseconds until a request may go there. */
  get waitMs(): number {
    return this.isUsable ? 0 : Math.max(1, this.#openUntil - this.#now());
  }

  take(): void {
    if (this.#openUntil !== 0) this.#isProbing = true;
  }

  /** The request said nothing of the backend: it was cancelled, or was wrong itself. */
  giveUp(): void {
    this.#isProbing = false;
  }

  succeeded(): void {
    this.#isProbing = false;
    this.#inARow = 0;
    if (this.#openUntil !== 0) {
      this.#openUntil = 0;
      this.#samples = [];
    }
    this.#add(false);
  }

  failed(): void {
    this.#inARow += 1;
    this.#add(true);
    const wasProbe = this.#isProbing;
    this.#isProbing = false;
    if (wasProbe || this.#inARow >= FAILURES_IN_A_ROW || this.#failsOften()) this.#openUntil = this.#now() + OPEN_MS;
  }

  reset(): void {
    this.#openUntil = 0;
    this.#isProbing = false;
    this.#inARow = 0;
    this.#samples = [];
  }

  #failsOften(): boolean {
    return (
      this.#samples.length >= LEAST_SAMPLES &&
      this.#samples.filter(({ hasFailed }) => hasFailed).length * 2 >= this.#samples.length
    );
  }

  #add(hasFailed: boolean): void {
    const at = this.#now();
    const kept = this.#samples.findIndex((sample) => sample.at > at - WINDOW_MS);
    this.#samples.splice(0, kept === -1 ? this.#samples.length : kept);
    this.#samples.push({ at, hasFailed });
    if (this.#samples.length > 1000) this.#samples.shift();
  }
}
