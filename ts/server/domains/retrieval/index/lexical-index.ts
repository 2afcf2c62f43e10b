/** Finds passages by their terms, ranked by BM25 over stems and, with a weight of its own, over the terms that are parts of words. */
import { hashTerm, type TermVector } from '../terms/term-vector.ts';
import { type Term, type TermKind, termsOf } from '../terms/terms.ts';
import { type IndexedTerms, MAX_SEGMENT_PASSAGES, PostingSegment, type SegmentParts } from './posting-segment.ts';
import { SegmentMerge } from './segment-merge.ts';

/** Robertson and Zaragoza 2009: how soon a further occurrence counts for nothing, and how much the length of a passage does. */
interface Bm25Options {
  readonly k1: number;
  readonly b: number;
  /** Of grams, beside 1 for stems. */
  readonly gramWeight: number;
}

export const DEFAULT_BM25: Bm25Options = { k1: 0.9, b: 0.65, gramWeight: 0.4 };

export interface LexicalScores {
  /** By slot; 0 where no term occurs. */
  readonly scores: Float32Array;
  /** By slot: what share of the question's terms occurs, by how rare they are (0 to 1). */
  readonly coverage: Float32Array;
}

/** What an index is made of, as it was at one moment. */
export interface LexicalParts {
  readonly segments: readonly SegmentParts[];
  /** By slot, as isLive: 1 for passages that were not removed. */
  readonly stems: Uint32Array;
  readonly grams: Uint32Array;
  readonly isLive: Uint8Array;
}

interface WeighedTerm {
  readonly hash: number;
  readonly kind: TermKind;
  readonly isRun: boolean;
  readonly idf: number;
  /** The same, but a term that is nowhere counts as one that is somewhere: in a small base, most words of a question are nowhere. */
  readonly rarity: number;
}

/** Segments of one size class that are merged into one of the next. */
const MERGE_COUNT = 8;
/** That are merged in one go, while no search is answered: a few milliseconds. */
const SLICE_POSTINGS = 2 ** 17;
const MAX_QUERY_TERMS = 512;

export class LexicalIndex {
  readonly #options: Bm25Options;
  #segments: PostingSegment[] = [];
  #merge: SegmentMerge | undefined;
  #lengths: Record<'stem' | 'gram', Uint32Array> = { stem: new Uint32Array(0), gram: new Uint32Array(0) };
  #isLive: Uint8Array = new Uint8Array(0);
  #nLive = 0;
  readonly #totals = { stem: 0, gram: 0 };

  constructor(options: Bm25Options = DEFAULT_BM25) {
    this.#options = options;
  }

  /** Throws RangeError for parts that no index has. */
  static restored({ segments, stems, grams, isLive }: LexicalParts): LexicalIndex {
    if (stems.length !== isLive.length || grams.length !== isLive.length)
      throw new RangeError('the lengths of passages are damaged');
    const index = new LexicalIndex();
    index.#segments = segments.map((parts) => PostingSegment.restored(parts));
    index.#lengths = { stem: stems, gram: grams };
    index.#isLive = isLive;
    for (let slot = 0; slot < isLive.length; slot++) {
      if (isLive[slot] !== 1) continue;
      index.#nLive += 1;
      index.#totals.stem += stems[slot] ?? 0;
      index.#totals.gram += grams[slot] ?? 0;
    }
    return index;
  }

  /** Copies what later changes. */
  parts(): LexicalParts {
    const { stem, gram } = this.#lengths;
    const segments = this.#segments.map((segment) => segment.parts);
    return { segments, stems: stem.slice(), grams: gram.slice(), isLive: this.#isLive.slice() };
  }

  get sizeBytes(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.sizeBytes, 9 * this.#isLive.length);
  }

  /** Slots are new, and small numbers. What it adds is found at once; mergeSome() then keeps searches quick. */
  add(passages: readonly IndexedTerms[]): void {
    if (passages.length === 0) return;
    this.#reserve(1 + passages.reduce((most, { slot }) => Math.max(most, slot), 0));
    for (const { slot, terms } of passages) this.#count(slot, terms);
    for (let at = 0; at < passages.length; at += MAX_SEGMENT_PASSAGES) {
      this.#segments.push(PostingSegment.of(passages.slice(at, at + MAX_SEGMENT_PASSAGES)));
    }
  }

  /** Does a slice of the merging that is due. False: nothing is left to be done. */
  mergeSome(nPostings = SLICE_POSTINGS): boolean {
    this.#merge ??= this.#nextMerge();
    if (this.#merge === undefined) return false;
    const { segments } = this.#merge;
    const merged = this.#merge.advance(nPostings);
    if (merged === undefined) return true;
    this.#segments = [...this.#segments.filter((segment) => !segments.includes(segment)), merged];
    this.#merge = this.#nextMerge();
    return this.#merge !== undefined;
  }

  remove(slots: Iterable<number>): void {
    for (const slot of slots) {
      if (this.#isLive[slot] !== 1) continue;
      this.#isLive[slot] = 0;
      this.#nLive -= 1;
      this.#totals.stem -= this.#lengths.stem[slot] ?? 0;
      this.#totals.gram -= this.#lengths.gram[slot] ?? 0;
    }
  }

  search(question: string): LexicalScores {
    const size = this.#isLive.length;
    const found: LexicalScores = { scores: new Float32Array(size), coverage: new Float32Array(size) };
    const terms = this.#weigh(question);
    const shares = coverageShares(terms);
    for (const [i, term] of terms.entries()) this.#score(term, shares[i] ?? 0, found);
    for (let slot = 0; slot < size; slot++) if (this.#isLive[slot] !== 1) found.scores[slot] = found.coverage[slot] = 0;
    return found;
  }

  #weigh(question: string): WeighedTerm[] {
    const terms = new Map<number, Term>();
    for (const term of termsOf(question)) {
      terms.set(hashTerm(term.kind, term.term), term);
      if (terms.size >= MAX_QUERY_TERMS) break;
    }
    return [...terms].map(([hash, { kind, isRun }]) => {
      const n = this.#segments.reduce((sum, segment) => sum + segment.count(hash), 0);
      const nHaving = Math.min(n, this.#nLive);
      return { hash, kind, isRun, idf: this.#idf(nHaving), rarity: this.#idf(Math.max(1, nHaving)) };
    });
  }

  /** How much it says that a passage has a term which `nHaving` passages have. */
  #idf(nHaving: number): number {
    return Math.log(1 + (this.#nLive - nHaving + 0.5) / (nHaving + 0.5));
  }

  #score({ hash, kind, idf }: WeighedTerm, share: number, { scores, coverage }: LexicalScores): void {
    const { k1, b, gramWeight } = this.#options;
    const lengths = this.#lengths[kind];
    const mean = this.#nLive === 0 ? 1 : Math.max(1, this.#totals[kind] / this.#nLive);
    const weight = idf * (k1 + 1) * (kind === 'gram' ? gramWeight : 1);
    for (const segment of this.#segments) {
      segment.forEach(hash, (slot, count) => {
        const norm = k1 * (1 - b + (b * (lengths[slot] ?? 0)) / mean);
        scores[slot] = (scores[slot] ?? 0) + (weight * count) / (count + norm);
        coverage[slot] = (coverage[slot] ?? 0) + share;
      });
    }
  }

  #count(slot: number, { nStems, nGrams }: TermVector): void {
    this.#lengths.stem[slot] = nStems;
    this.#lengths.gram[slot] = nGrams;
    this.#isLive[slot] = 1;
    this.#nLive += 1;
    this.#totals.stem += nStems;
    this.#totals.gram += nGrams;
  }

  #reserve(size: number): void {
    if (size <= this.#isLive.length) return;
    const length = Math.max(size, Math.ceil(this.#isLive.length * 1.5), 1024);
    const { stem, gram } = this.#lengths;
    this.#lengths = { stem: grown(stem, new Uint32Array(length)), gram: grown(gram, new Uint32Array(length)) };
    this.#isLive = grown(this.#isLive, new Uint8Array(length));
  }

  /** Few segments keep a search quick: as soon as there are several of about one size, they become one. */
  #nextMerge(): SegmentMerge | undefined {
    const classes = Map.groupBy(this.#segments, ({ slots }) =>
      Math.floor(Math.log(Math.max(1, slots.length)) / Math.log(MERGE_COUNT)),
    );
    const full = [...classes.values()].find((segments) => {
      const n = segments.reduce((sum, { slots }) => sum + slots.length, 0);
      return segments.length >= MERGE_COUNT && n <= MAX_SEGMENT_PASSAGES;
    });
    return full && new SegmentMerge(full, (slot) => this.#isLive[slot] !== 1);
  }
}

/**
 * What each term adds to the coverage: rare ones much more than common ones; stems and grams half each. Pairs of characters say nothing that
 * the words of their run do not.
 */
function coverageShares(terms: readonly WeighedTerm[]): number[] {
  const weights = terms.map(({ kind, isRun, rarity }) => (kind === 'gram' && isRun ? 0 : rarity * rarity));
  const whole = { stem: 0, gram: 0 };
  for (const [i, { kind }] of terms.entries()) whole[kind] += weights[i] ?? 0;
  const ofStems = whole.gram === 0 ? 1 : 0.5;
  return terms.map(({ kind }, i) => {
    if (whole[kind] === 0) return 0;
    return ((weights[i] ?? 0) / whole[kind]) * (kind === 'stem' ? ofStems : 1 - ofStems);
  });
}

function grown<T extends Uint32Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
