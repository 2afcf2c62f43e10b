/** A set of slots, as vector indexes take it: a bit for each. */
export class SlotSet {
  readonly bits: Uint32Array;

  /** Slots are smaller than `size`. */
  constructor(size: number, slots: Iterable<number>) {
    this.bits = new Uint32Array(Math.ceil(size / 32));
    for (const slot of slots) this.bits[slot >>> 5] = (this.bits[slot >>> 5] ?? 0) | (1 << (slot & 31));
  }

  has(slot: number): boolean {
    return ((this.bits[slot >>> 5] ?? 0) & (1 << (slot & 31))) !== 0;
  }
}
