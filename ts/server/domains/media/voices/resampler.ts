/** Samples of one rate -> samples of another, piece by piece: a windowed sinc at each place. */

/** Samples on either side that one is made of. */
const REACH = 12;

export class Resampler {
  readonly #from: number;
  readonly #to: number;
  /** Samples that later ones still need, with silence before the first. */
  #held = new Float32Array(REACH);
  /** The place of the first held sample. */
  #heldAt = -REACH;
  #nMade = 0;

  constructor(from: number, to: number) {
    this.#from = from;
    this.#to = to;
  }

  push(samples: Int16Array): Int16Array {
    const held = new Float32Array(this.#held.length + samples.length);
    held.set(this.#held);
    held.set(samples, this.#held.length);
    this.#held = held;
    return this.#make(this.#heldAt + held.length - REACH);
  }

  /** Makes what is left; there is silence behind it. */
  end(): Int16Array {
    return this.push(new Int16Array(REACH));
  }

  /** Makes those whose place is before `end`. */
  #make(end: number): Int16Array {
    const step = this.#from / this.#to;
    // Going down, what the lower rate cannot hold is left out.
    const cut = Math.min(1, this.#to / this.#from);
    const made: number[] = [];
    for (let place = this.#nMade * step; place < end; place = ++this.#nMade * step) {
      const middle = Math.floor(place);
      let sum = 0;
      for (let at = middle - REACH + 1; at <= middle + REACH; at++) {
        const distance = place - at;
        sum += (this.#held[at - this.#heldAt] ?? 0) * kernel(distance, cut);
      }
      made.push(Math.max(-32_768, Math.min(32_767, Math.round(sum))));
    }
    const kept = Math.max(0, Math.floor(this.#nMade * step) - REACH + 1 - this.#heldAt);
    this.#held = this.#held.slice(kept);
    this.#heldAt += kept;
    return Int16Array.from(made);
  }
}

function kernel(distance: number, cut: number): number {
  const x = Math.PI * distance * cut;
  const sinc = x === 0 ? 1 : Math.sin(x) / x;
  const edge = distance / REACH;
  return Math.abs(edge) >= 1 ? 0 : cut * sinc * (0.5 + 0.5 * Math.cos(Math.PI * edge));
}
