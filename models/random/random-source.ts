import { createHash } from 'node:crypto';

/**
 * Pseudo-random numbers that are the same on every machine: the generator sfc32 (Chris Doty-Humphrey, PractRand) on integers alone,
 * and no Math.log or Math.cos, whose last bits differ between builds.
 */
export class RandomSource {
  #a: number;
  #b: number;
  #c: number;
  #counter: number;

  constructor(seed: string) {
    const digest = createHash('sha256').update(seed).digest();
    this.#a = digest.readInt32LE(0);
    this.#b = digest.readInt32LE(4);
    this.#c = digest.readInt32LE(8);
    this.#counter = digest.readInt32LE(12);
  }

  /**
   * Fills `target` with a bell curve: the sum of the four bytes of a random integer has a mean of 510 and a variance of
   * (256² - 1) / 3, and stays within 3.5 deviations.
   */
  fillNormal(target: Float32Array, mean: number, deviation: number): void {
    const scale = deviation / Math.sqrt((256 * 256 - 1) / 3);
    let a = this.#a;
    let b = this.#b;
    let c = this.#c;
    let counter = this.#counter;
    for (let i = 0; i < target.length; i++) {
      const bits = (((a + b) | 0) + counter) | 0;
      counter = (counter + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + bits) | 0;
      const sum = (bits & 255) + ((bits >>> 8) & 255) + ((bits >>> 16) & 255) + (bits >>> 24);
      target[i] = mean + (sum - 510) * scale;
    }
    this.#a = a;
    this.#b = b;
    this.#c = c;
    this.#counter = counter;
  }
}
