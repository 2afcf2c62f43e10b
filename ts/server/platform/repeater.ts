/** Runs something again and again: at an interval, at once when woken, and never twice at a time. */
interface RepeaterParts {
  readonly intervalMs: number;
  run(): Promise<void>;
  onError(error: unknown): void;
}

export class Repeater {
  readonly #parts: RepeaterParts;
  #loop: Promise<void> | undefined;
  #isStopped = false;
  #isWoken = false;
  #wake = () => {};

  constructor(parts: RepeaterParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#isStopped = false;
    this.#loop ??= this.#repeat();
  }

  /** Runs at once, and once more if a run is under way. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Resolves when the run that is under way has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wake();
    await this.#loop;
    this.#loop = undefined;
  }

  async #repeat(): Promise<void> {
    while (!this.#isStopped) {
      this.#isWoken = false;
      await this.#parts.run().catch((error: unknown) => this.#parts.onError(error));
      if (!this.#isWoken && !this.#isStopped) await this.#pause();
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#parts.intervalMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
