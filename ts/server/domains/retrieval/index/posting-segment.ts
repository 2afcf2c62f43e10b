/**
 * Where each term stands, for a number of passages that were added together: terms in the order of their hashes, and behind each the passages
 * that have it. A segment never changes; several are merged into a larger one (segment-merge.ts).
 */
import type { TermVector } from '../terms/term-vector.ts';

export interface IndexedTerms {
  readonly slot: number;
  readonly terms: TermVector;
}

/** More passages do not fit into a sort key beside a hash and a count (53 bits). */
export const MAX_SEGMENT_PASSAGES = 2 ** 17;
export const COUNT_BITS = 4;
const COUNTS = 2 ** COUNT_BITS;
const PLACES = MAX_SEGMENT_PASSAGES * COUNTS;

/** What a segment is made of; nothing in it is ever changed. */
export interface SegmentParts {
  readonly slots: Uint32Array;
  readonly hashes: Uint32Array;
  readonly offsets: Uint32Array;
  readonly postings: Uint32Array;
}

export class PostingSegment {
  readonly #hashes: Uint32Array;
  /** Postings of term i lie from `offsets[i]` to before `offsets[i + 1]`. */
  readonly #offsets: Uint32Array;
  /** The place of a passage in `slots`, and the count, in one number. */
  readonly #postings: Uint32Array;
  /** In rising order. */
  readonly slots: Uint32Array;

  constructor({ slots, hashes, offsets, postings }: SegmentParts) {
    this.slots = slots;
    this.#hashes = hashes;
    this.#offsets = offsets;
    this.#postings = postings;
  }

  /** Throws RangeError for parts that no segment has. */
  static restored(parts: SegmentParts): PostingSegment {
    const { hashes, offsets, postings } = parts;
    const isOrdered = offsets.every((offset, i) => i === 0 || offset >= (offsets[i - 1] ?? 0));
    const ends = [offsets.length - hashes.length, offsets[0], (offsets.at(-1) ?? 0) - postings.length];
    if (!isOrdered || ends.join() !== '1,0,0') throw new RangeError('the postings of a segment are damaged');
    return new PostingSegment(parts);
  }

  get parts(): SegmentParts {
    return { slots: this.slots, hashes: this.#hashes, offsets: this.#offsets, postings: this.#postings };
  }

  /** At most MAX_SEGMENT_PASSAGES. */
  static of(passages: readonly IndexedTerms[]): PostingSegment {
    const ordered = [...passages].sort((a, b) => a.slot - b.slot);
    const keys = new Float64Array(ordered.reduce((sum, { terms }) => sum + terms.hashes.length, 0));
    let n = 0;
    for (const [place, { terms }] of ordered.entries()) {
      for (let i = 0; i < terms.hashes.length; i++) keys[n++] = keyOf(terms.hashes[i] ?? 0, place, terms.counts[i] ?? 0);
    }
    return new PostingSegment({ slots: Uint32Array.from(ordered, ({ slot }) => slot), ...grouped(keys.sort()) });
  }

  get sizeBytes(): number {
    return 4 * (this.#hashes.length + this.#offsets.length + this.#postings.length + this.slots.length);
  }

  /** How many passages have the term. */
  count(hash: number): number {
    const term = this.#find(hash);
    return term < 0 ? 0 : (this.#offsets[term + 1] ?? 0) - (this.#offsets[term] ?? 0);
  }

  forEach(hash: number, visit: (slot: number, count: number) => void): void {
    const term = this.#find(hash);
    if (term < 0) return;
    const end = this.#offsets[term + 1] ?? 0;
    for (let i = this.#offsets[term] ?? 0; i < end; i++) {
      const posting = this.#postings[i] ?? 0;
      visit(this.slots[posting >>> COUNT_BITS] ?? 0, posting & (COUNTS - 1));
    }
  }

  #find(hash: number): number {
    let low = 0;
    let high = this.#hashes.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.#hashes[middle] ?? 0;
      if (found === hash) return middle;
      if (found < hash) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }
}

function keyOf(hash: number, place: number, count: number): number {
  return hash * PLACES + place * COUNTS + count;
}

function grouped(keys: Float64Array): { hashes: Uint32Array; offsets: Uint32Array; postings: Uint32Array } {
  const postings = new Uint32Array(keys.length);
  const hashes: number[] = [];
  const offsets: number[] = [];
  let last = -1;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? 0;
    const hash = Math.floor(key / PLACES);
    if (hash !== last) {
      hashes.push(hash);
      offsets.push(i);
      last = hash;
    }
    postings[i] = key - hash * PLACES;
  }
  return { hashes: Uint32Array.from(hashes), offsets: Uint32Array.from([...offsets, keys.length]), postings };
}
