/** Runs something soon after it was asked for, and not more often than every `intervalMs`. */
export class Throttle {
  readonly #intervalMs: number;
  readonly #run: () => void;
  #lastAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(intervalMs: number, run: () => void) {
    this.#intervalMs = intervalMs;
    this.#run = run;
  }

  ask(): void {
    if (this.#timer !== undefined) return;
    const waitMs = this.#lastAt + this.#intervalMs - performance.now();
    if (waitMs <= 0) this.#fire();
    else this.#timer = setTimeout(() => this.#fire(), waitMs);
  }

  /** Forgets what was asked for. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #fire(): void {
    this.#timer = undefined;
    this.#lastAt = performance.now();
    this.#run();
  }
}
