/** A Bloom filter says which tokens a frame may hold: of 20 bits a token, so that about one frame of 7,000 is read for nothing. */

const BITS_A_TOKEN = 20;
const N_PROBES = 8;

/** Different tokens, each once. */
export class TokenSet {
  #slots = new Uint32Array(16_384);
  #nTokens = 0;

  add(token: number): void {
    // 0 stands for an empty slot.
    const value = token === 0 ? 1 : token;
    const mask = this.#slots.length - 1;
    for (let at = spread(value) & mask; ; at = (at + 1) & mask) {
      const found = this.#slots[at];
      if (found === value) return;
      if (found !== 0) continue;
      this.#slots[at] = value;
      this.#nTokens += 1;
      if (this.#nTokens * 2 > this.#slots.length) this.#grow();
      return;
    }
  }

  /** The filter of what was added; the set is empty then. */
  takeFilter(): Uint8Array {
    const filter = new Uint8Array(Math.max(8, Math.ceil((this.#nTokens * BITS_A_TOKEN) / 8)));
    const nBits = filter.length * 8;
    for (const token of this.#slots)
      if (token !== 0)
        eachProbe(token, nBits, (bit) => {
          filter[bit >> 3] = (filter[bit >> 3] ?? 0) | (1 << (bit & 7));
          return true;
        });
    this.#slots.fill(0);
    this.#nTokens = 0;
    return filter;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(before.length * 2);
    this.#nTokens = 0;
    for (const token of before) if (token !== 0) this.add(token);
  }
}

/** False: the token is not in the frame. */
export function mayHold(filter: Uint8Array, token: number): boolean {
  return eachProbe(token === 0 ? 1 : token, filter.length * 8, (bit) => ((filter[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0);
}

/** Ends with false as soon as `look` says false. */
function eachProbe(token: number, nBits: number, look: (bit: number) => boolean): boolean {
  let at = spread(token);
  const step = (spread(token ^ 0x9e3779b9) | 1) >>> 0;
  for (let i = 0; i < N_PROBES; i++) {
    if (!look(at % nBits)) return false;
    at = (at + step) >>> 0;
  }
  return true;
}

/** The finisher of MurmurHash3. */
function spread(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
