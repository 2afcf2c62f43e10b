/**
 * The typed binding to native/vector: an index that finds the vectors nearest to one, by cosine.
 *
 * Lifetimes: close() is idempotent and explicit. Threads: methods that return a promise work on native threads and take at once what they
 * are given; the others work on this one, for owners that are a thread of their own.
 */
import { loadAddon } from './load.ts';
import { NativeError } from './native-error.ts';
import type { AllowedKeys, KernelProducts, Keys, VectorHit, VectorIndexOptions, VectorIndexStats } from './vector-shapes.ts';

export type * from './vector-shapes.ts';

/** Hits of all queries one after the other, and how many each has. */
interface HitColumns {
  readonly keys: Float64Array;
  readonly scores: Float32Array;
  readonly counts: Uint32Array;
}

interface RawIndex {
  addNow(keys: Keys, vectors: Float32Array): void;
  removeNow(keys: Keys): number;
  searchNow(queries: Float32Array, k: number, allowed?: AllowedKeys): HitColumns;
  similarity(query: Float32Array, key: Keys): number | undefined;
  keys(): Float64Array;
  stats(): VectorIndexStats;
  add(keys: Keys, vectors: Float32Array): Promise<void>;
  remove(keys: Keys): Promise<number>;
  search(queries: Float32Array, k: number, allowed?: AllowedKeys): Promise<HitColumns>;
  link(): Promise<void>;
  compact(): Promise<void>;
  save(path: string): Promise<void>;
  close(): Promise<void>;
}

/** What native/vector/bindings/addon.cpp registers. */
interface VectorAddon {
  createIndex(options: VectorIndexOptions): RawIndex;
  openIndex(path: string, options: VectorIndexOptions, isViewed: boolean): Promise<RawIndex>;
  compareKernels(one: Float32Array, other: Float32Array): KernelProducts[];
}

/** Keys of one batch: the next one waits behind other work, which does not wait for all of it. */
const BATCH_KEYS = 1024;
/** Rows that are compared one by one before they are linked in the background. */
const MOST_UNLINKED = 1024;

const addon = (): VectorAddon => loadAddon('vector') as VectorAddon;

export class VectorIndex {
  readonly dimensions: number;
  readonly #raw: RawIndex;
  #nAdded = 0;
  #linking: Promise<void> | undefined;

  /** Throws NativeError invalid_argument. */
  constructor(options: VectorIndexOptions, raw: RawIndex = addon().createIndex(options)) {
    this.dimensions = options.dimensions;
    this.#raw = raw;
  }

  /**
   * Reads what save() wrote; with `isViewed` the file stays where it is, and memory is taken as it is touched and for what is added.
   * Throws NativeError index_not_found, or index_invalid for a file that is damaged, of other dimensions or of another label.
   */
  static async open(path: string, options: VectorIndexOptions, { isViewed = false } = {}): Promise<VectorIndex> {
    return new VectorIndex(options, await addon().openIndex(path, options, isViewed));
  }

  get sizeBytes(): number {
    return this.stats().sizeBytes;
  }

  stats(): VectorIndexStats {
    return this.#raw.stats();
  }

  /** A vector that has the id already is replaced. Throws RangeError for a vector of other dimensions, NativeError for numbers that are none. */
  add(id: number, vector: Float32Array): void {
    this.#expectOne(vector);
    this.#raw.addNow(Float64Array.of(id), vector);
    this.#linkSoon(1);
  }

  remove(id: number): void {
    this.#raw.removeNow(Float64Array.of(id));
  }

  /** At most `k`, best first, of those that are allowed. */
  search(query: Float32Array, k: number, allowed?: AllowedKeys): VectorHit[] {
    this.#expectOne(query);
    return hitsOf(this.#raw.searchNow(query, k, allowed))[0] ?? [];
  }

  /** Of all vectors that are there, in no order. */
  ids(): Float64Array {
    return this.#raw.keys();
  }

  /** The cosine of one; undefined: it is not there. */
  similarity(query: Float32Array, id: number): number | undefined {
    this.#expectOne(query);
    return this.#raw.similarity(query, Float64Array.of(id));
  }

  /** One vector for each key, one after the other. Throws as add() does; what came before in the same call may then be in the index. */
  async addAll(keys: Float64Array, vectors: Float32Array): Promise<void> {
    if (vectors.length !== keys.length * this.dimensions)
      throw new RangeError(`${keys.length} keys need ${keys.length * this.dimensions} numbers and not ${vectors.length}`);
    for (let at = 0; at < keys.length; at += BATCH_KEYS) {
      const end = Math.min(keys.length, at + BATCH_KEYS);
      await this.#raw.add(keys.subarray(at, end), vectors.subarray(at * this.dimensions, end * this.dimensions));
      this.#linkSoon(end - at);
    }
  }

  /** Returns how many were there. */
  async removeAll(keys: Keys): Promise<number> {
    return this.#raw.remove(keys);
  }

  /** Answers several queries that lie one after the other: for each at most `k` hits, best first. */
  async searchAll(queries: Float32Array, k: number, allowed?: AllowedKeys): Promise<VectorHit[][]> {
    return hitsOf(await this.#raw.search(queries, k, allowed));
  }

  /** Waits until vectors that were added are linked, which happens by itself; searches find them before, by comparing with each. */
  async link(): Promise<void> {
    await this.#raw.link();
  }

  /** Frees what removed vectors take, by building the index anew beside the one that goes on serving. */
  async compact(): Promise<void> {
    return this.#raw.compact();
  }

  /** Replaces the file at once and whole, or throws NativeError index_write_failed and leaves what was there. */
  async save(path: string): Promise<void> {
    return this.#raw.save(path);
  }

  async close(): Promise<void> {
    await this.#raw.close();
    await this.#linking;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #expectOne(vector: Float32Array): void {
    if (vector.length === this.dimensions) return;
    throw new RangeError(`a vector of ${vector.length} dimensions does not belong to an index of ${this.dimensions}`);
  }

  #linkSoon(nAdded: number): void {
    this.#nAdded += nAdded;
    if (this.#nAdded < MOST_UNLINKED || this.#linking !== undefined) return;
    this.#nAdded = 0;
    this.#linking = this.link().then(
      () => this.#endLinking(),
      () => this.#endLinking(),
    );
  }

  /** A failure loses nothing: what is not linked is compared one by one, and the next addition tries again. */
  #endLinking(): void {
    this.#linking = undefined;
  }
}

/** The cosine of two vectors by each set of CPU instructions that this machine has, the one in use first. */
export function compareKernels(one: Float32Array, other: Float32Array): KernelProducts[] {
  return addon().compareKernels(one, other);
}

function hitsOf({ keys, scores, counts }: HitColumns): VectorHit[][] {
  let at = 0;
  return Array.from(counts, (count) => {
    const hits = Array.from({ length: count }, (_, i) => ({ id: keys[at + i] ?? 0, score: scores[at + i] ?? 0 }));
    at += count;
    return hits;
  });
}

export { NativeError };
