/**
 * Makes one segment of several, a slice at a time, so that searches are answered in between. Each segment has its terms and postings in order
 * already, so the work is linear in them: nothing is sorted but the postings of a term whose passages came to the segments out of order.
 */
import { COUNT_BITS, PostingSegment } from './posting-segment.ts';

interface Source {
  readonly hashes: Uint32Array;
  readonly offsets: Uint32Array;
  readonly postings: Uint32Array;
  /** By place in this segment: the place in the merged one, or NONE. */
  readonly places: Uint32Array;
  /** The next term. */
  term: number;
}

const NONE = 2 ** 32 - 1;
const COUNT_MASK = 2 ** COUNT_BITS - 1;

export class SegmentMerge {
  readonly segments: readonly PostingSegment[];
  readonly #sources: readonly Source[];
  readonly #slots: Uint32Array;
  readonly #hashes: Uint32Array;
  readonly #offsets: Uint32Array;
  readonly #postings: Uint32Array;
  #nTerms = 0;
  #nPostings = 0;

  /** Passages for which `isDead` holds now are left out. The live ones of all must be no more than a segment may have. */
  constructor(segments: readonly PostingSegment[], isDead: (slot: number) => boolean) {
    this.segments = segments;
    const parts = segments.map((segment) => segment.parts);
    this.#slots = liveSlots(segments, isDead);
    this.#sources = parts.map((part) => ({ ...part, places: placesIn(this.#slots, part.slots), term: 0 }));
    const nHashes = parts.reduce((sum, { hashes }) => sum + hashes.length, 0);
    this.#hashes = new Uint32Array(nHashes);
    this.#offsets = new Uint32Array(nHashes + 1);
    this.#postings = new Uint32Array(parts.reduce((sum, { postings }) => sum + postings.length, 0));
  }

  /** Goes through about so many more postings, and gives the merged segment once it is whole. */
  advance(nPostings: number): PostingSegment | undefined {
    for (let left = nPostings; left > 0; ) {
      const hash = this.#lowestHash();
      if (hash === undefined) return this.#finish();
      left -= this.#takeTerm(hash);
    }
    return undefined;
  }

  #lowestHash(): number | undefined {
    let lowest: number | undefined;
    for (const { hashes, term } of this.#sources) {
      const hash = hashes[term];
      if (hash !== undefined && (lowest === undefined || hash < lowest)) lowest = hash;
    }
    return lowest;
  }

  /** Returns how many postings it went through. */
  #takeTerm(hash: number): number {
    const start = this.#nPostings;
    let nSeen = 0;
    let isOrdered = true;
    for (const source of this.#sources) {
      if (source.hashes[source.term] !== hash) continue;
      const end = source.offsets[source.term + 1] ?? 0;
      for (let i = source.offsets[source.term] ?? 0; i < end; i++) {
        nSeen += 1;
        const posting = source.postings[i] ?? 0;
        const place = source.places[posting >>> COUNT_BITS] ?? NONE;
        if (place === NONE) continue;
        const moved = (place << COUNT_BITS) | (posting & COUNT_MASK);
        if (this.#nPostings > start && moved < (this.#postings[this.#nPostings - 1] ?? 0)) isOrdered = false;
        this.#postings[this.#nPostings++] = moved;
      }
      source.term += 1;
    }
    if (!isOrdered) this.#postings.subarray(start, this.#nPostings).sort();
    if (this.#nPostings > start) {
      this.#hashes[this.#nTerms] = hash;
      this.#offsets[this.#nTerms++] = start;
    }
    return nSeen;
  }

  #finish(): PostingSegment {
    this.#offsets[this.#nTerms] = this.#nPostings;
    return new PostingSegment({
      slots: this.#slots,
      hashes: this.#hashes.slice(0, this.#nTerms),
      offsets: this.#offsets.slice(0, this.#nTerms + 1),
      postings: this.#postings.slice(0, this.#nPostings),
    });
  }
}

/** In rising order. */
function liveSlots(segments: readonly PostingSegment[], isDead: (slot: number) => boolean): Uint32Array {
  const slots = new Uint32Array(segments.reduce((sum, segment) => sum + segment.slots.length, 0));
  let n = 0;
  for (const segment of segments) for (const slot of segment.slots) if (!isDead(slot)) slots[n++] = slot;
  return slots.slice(0, n).sort();
}

/** Where each of `some` stands among `all`; both are in rising order. */
function placesIn(all: Uint32Array, some: Uint32Array): Uint32Array {
  let at = 0;
  return some.map((slot) => {
    while (at < all.length && (all[at] ?? 0) < slot) at += 1;
    return all[at] === slot ? at : NONE;
  });
}
