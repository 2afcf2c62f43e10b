/** Some calls under way at once, their results in the order of the calls. */

export class OrderedWindow<T> {
  readonly #size: number;
  readonly #all: Promise<T>[] = [];
  #nAwaited = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Waits until there is a place. Rejects with the failure of a call before. */
  async add(call: () => Promise<T>): Promise<void> {
    while (this.#all.length - this.#nAwaited >= this.#size) {
      await this.#all[this.#nAwaited];
      this.#nAwaited += 1;
    }
    const running = call();
    // Whoever waits for the results hears of it; until then it is no failure that nobody handles.
    running.catch(() => undefined);
    this.#all.push(running);
  }

  /** Rejects with the first failure. */
  async results(): Promise<T[]> {
    return await Promise.all(this.#all);
  }

  /** Nothing is under way any more. Never rejects. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#all);
  }
}

/** Gives what is fetched for each item, in order, with the next ones under way. */
export async function* readAhead<I, T>(items: readonly I[], size: number, fetch: (item: I) => Promise<T>): AsyncGenerator<T> {
  const running: Promise<T>[] = [];
  let next = 0;
  try {
    for (let at = 0; at < items.length; at += 1) {
      for (; next < items.length && next < at + size; next += 1) {
        const call = fetch(items[next] as I);
        call.catch(() => undefined);
        running.push(call);
      }
      yield await (running.shift() as Promise<T>);
    }
  } finally {
    await Promise.allSettled(running);
  }
}
