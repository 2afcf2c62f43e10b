/** Which clients signed in before, by keys. The longest unused are forgotten when there are too many. */

const MAX_CLIENTS = 20_000;

export class KnownClients {
  /** In the order of their last use. */
  readonly #keys = new Set<string>();

  has(key: string): boolean {
    if (!this.#keys.delete(key)) return false;
    this.#keys.add(key);
    return true;
  }

  add(key: string): void {
    this.#keys.delete(key);
    const [oldest] = this.#keys.size >= MAX_CLIENTS ? this.#keys : [];
    if (oldest !== undefined) this.#keys.delete(oldest);
    this.#keys.add(key);
  }
}
