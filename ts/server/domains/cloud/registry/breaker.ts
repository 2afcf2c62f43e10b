/** Keeps requests from a backend's model that fails, and lets one through now and then to see whether it works again. */
const FAILURES_IN_A_ROW = 5;
const LEAST_SAMPLES = 10;
const WINDOW_MS = 30_000;
const OPEN_MS = 10_000;
/** Whoever finds a probe under way looks again so often. */
const PROBE_LOOK_MS = 100;

type BreakerState = 'closed' | 'open' | 'probing';

/** One request's leave to go there, by which it says how it went. */
export type Pass = symbol;

export class Breaker {
  readonly #now: () => number;
  #openUntil = 0;
  #probe: Pass | undefined;
  #inARow = 0;
  #samples: { at: number; hasFailed: boolean }[] = [];

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  get state(): BreakerState {
    if (this.#openUntil === 0) return 'closed';
    return this.#probe === undefined ? 'open' : 'probing';
  }

  get #isUsable(): boolean {
    return this.#openUntil === 0 || (this.#probe === undefined && this.#now() >= this.#openUntil);
  }

  /** Milliseconds until a request may go there. */
  get waitMs(): number {
    if (this.#isUsable) return 0;
    return this.#probe === undefined ? Math.max(1, this.#openUntil - this.#now()) : PROBE_LOOK_MS;
  }

  /** Undefined: no request may go there now, since it fails or another one is trying it. */
  take(): Pass | undefined {
    if (!this.#isUsable) return undefined;
    const pass: Pass = Symbol('pass');
    if (this.#openUntil !== 0) this.#probe = pass;
    return pass;
  }

  /** The request said nothing of the backend: it was cancelled, or was wrong itself. */
  giveUp(pass: Pass): void {
    if (this.#probe === pass) this.#probe = undefined;
  }

  succeeded(): void {
    this.#probe = undefined;
    this.#inARow = 0;
    if (this.#openUntil !== 0) {
      this.#openUntil = 0;
      this.#samples = [];
    }
    this.#add(false);
  }

  failed(pass: Pass): void {
    this.#inARow += 1;
    this.#add(true);
    const wasProbe = this.#probe === pass;
    this.giveUp(pass);
    if (wasProbe || this.#inARow >= FAILURES_IN_A_ROW || this.#failsOften()) this.#openUntil = this.#now() + OPEN_MS;
  }

  reset(): void {
    this.#openUntil = 0;
    this.#probe = undefined;
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
