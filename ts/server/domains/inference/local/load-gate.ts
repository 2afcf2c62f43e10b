/** Lets a few through at a time: more loads at once would each take longer, and fill the threads that tokenising shares. */
export class LoadGate {
  readonly #most: number;
  #nInside = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#nInside >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#nInside++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The place goes on to the next one.
      if (next) next();
      else this.#nInside--;
    }
  }
}
