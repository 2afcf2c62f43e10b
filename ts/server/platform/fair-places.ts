/** Places for work of tenants, of which one tenant never holds all. Tenants that wait are served in turn, each in the order of its arrival. */
export class FairPlaces {
  readonly #share: number;
  readonly #held = new Map<string, number>();
  /** Tenants in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #free: number;

  /** @param share places of one tenant at most. */
  constructor(places: number, share: number) {
    this.#free = places;
    this.#share = share;
  }

  /** Resolves with the function that frees the place again, to be called once. */
  async acquire(tenant: string): Promise<() => void> {
    if (this.#free > 0 && this.#heldBy(tenant) < this.#share) this.#take(tenant);
    else await this.#wait(tenant);
    return () => this.#release(tenant);
  }

  #wait(tenant: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(tenant);
      if (queue === undefined) this.#waiting.set(tenant, [resolve]);
      else queue.push(resolve);
    });
  }

  #release(tenant: string): void {
    const left = this.#heldBy(tenant) - 1;
    if (left > 0) this.#held.set(tenant, left);
    else this.#held.delete(tenant);
    this.#free += 1;
    this.#admitNext();
  }

  #admitNext(): void {
    for (const [tenant, queue] of this.#waiting) {
      if (this.#heldBy(tenant) >= this.#share) continue;
      const start = queue.shift();
      this.#waiting.delete(tenant);
      // Behind all others that wait.
      if (queue.length > 0) this.#waiting.set(tenant, queue);
      this.#take(tenant);
      start?.();
      return;
    }
  }

  #take(tenant: string): void {
    this.#free -= 1;
    this.#held.set(tenant, this.#heldBy(tenant) + 1);
  }

  #heldBy(tenant: string): number {
    return this.#held.get(tenant) ?? 0;
  }
}
