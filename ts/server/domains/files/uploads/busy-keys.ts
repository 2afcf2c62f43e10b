/** What requests of this process are working on. Two requests never write the same bytes at a time. */
export class BusyKeys {
  readonly #keys = new Set<string>();

  /** Throws what `refusal` makes when another request holds the key. */
  async hold<T>(key: string, refusal: () => Error, act: () => Promise<T>): Promise<T> {
    if (this.#keys.has(key)) throw refusal();
    this.#keys.add(key);
    try {
      return await act();
    } finally {
      this.#keys.delete(key);
    }
  }
}
