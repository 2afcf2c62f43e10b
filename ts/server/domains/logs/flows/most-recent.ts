/** A map of bounded size: what was not used for longest goes. */
export class MostRecent<K, V> {
  readonly #most: number;
  readonly #map = new Map<K, V>();

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#map.size;
  }

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  entries(): IterableIterator<[K, V]> {
    return this.#map.entries();
  }

  /** Returns what had to go. */
  set(key: K, value: V): V | undefined {
    this.#map.delete(key);
    this.#map.set(key, value);
    if (this.#map.size <= this.#most) return undefined;
    const [oldest] = this.#map.entries();
    if (oldest === undefined) return undefined;
    this.#map.delete(oldest[0]);
    return oldest[1];
  }
}
