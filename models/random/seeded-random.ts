/** Random numbers for tests and measurements: the same seed gives the same ones. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 <= x < 1; mulberry32, whose 32 bits of state are plenty for traffic. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  integer(below: number): number {
    return Math.floor(this.next() * below);
  }

  pick<T>(values: readonly [T, ...T[]]): T {
    return values[this.integer(values.length)] ?? values[0];
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Time to the next arrival of a Poisson process, in the unit of 1 / rate. */
  exponential(rate: number): number {
    return -Math.log(1 - this.next()) / rate;
  }
}
