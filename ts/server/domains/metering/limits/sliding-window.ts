/** What was used in the last minute, to the millisecond. */
export const WINDOW_MS = 60_000;

export interface WindowEntry {
  at: number;
  n: number;
}

export class SlidingWindow {
  readonly #entries: WindowEntry[] = [];
  #sum = 0;
  /** Entries before this index have slid out. */
  #first = 0;

  sum(now: number): number {
    this.#slide(now);
    return this.#sum;
  }

  /** The entry can be taken back with `remove()`. */
  add(at: number, n: number): WindowEntry {
    const entry = { at, n };
    this.#entries.push(entry);
    this.#sum += n;
    return entry;
  }

  /** Nothing happens when it has slid out. */
  remove(entry: WindowEntry, now: number): void {
    this.#slide(now);
    if (entry.at > now - WINDOW_MS) this.#sum -= entry.n;
    entry.n = 0;
  }

  /** Milliseconds until `n` of it have slid out; undefined: there is not so much. */
  untilFree(n: number, now: number): number | undefined {
    this.#slide(now);
    let freed = 0;
    for (let i = this.#first; i < this.#entries.length; i += 1) {
      const entry = this.#entries[i];
      if (entry === undefined) break;
      freed += entry.n;
      if (freed >= n) return entry.at + WINDOW_MS - now;
    }
    return undefined;
  }

  #slide(now: number): void {
    const before = now - WINDOW_MS;
    for (let entry = this.#entries[this.#first]; entry !== undefined && entry.at <= before; ) {
      this.#sum -= entry.n;
      this.#first += 1;
      entry = this.#entries[this.#first];
    }
    // Cut now and then, so that a window of n entries costs n moves for n entries.
    if (this.#first > 64 && this.#first * 2 > this.#entries.length) {
      this.#entries.splice(0, this.#first);
      this.#first = 0;
    }
  }
}
