/** Reproducible numbers from 0 to 1: a linear congruential generator with the constants of Numerical Recipes. */
export class RandomSource {
  #state: number;

  constructor(seed: number) {
    this.#state = scramble(seed);
  }

  next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }

  integer(below: number): number {
    return Math.floor(this.next() * below);
  }

  /** Time to the next arrival of a Poisson process, in the unit of 1 / rate. */
  exponential(rate: number): number {
    return -Math.log(1 - this.next()) / rate;
  }
}

/** Neighbouring seeds would begin with the same numbers: prompts would share their first words. Steps of MurmurHash3's finaliser. */
function scramble(seed: number): number {
  let mixed = Math.imul(seed ^ (seed >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
