/** What every library is measured through: ours and the rivals alike. */
export interface VectorLibrary {
  /** Adds vectors that lie one after the other, under the keys from `firstKey` on. */
  add(firstKey: number, vectors: Float32Array): void | Promise<void>;
  /** Resolves when searches are as fast as they will be. */
  settle?(): Promise<void>;
  /** How hard a search tries, least first; a library without a choice leaves it out. */
  readonly efforts?: readonly number[];
  setEffort?(effort: number): void;
  /** The keys of at most `k` vectors, nearest first. Absent `allowed`: all. */
  search(query: Float32Array, k: number, allowed?: AllowedVectors): number[] | Promise<number[]>;
  readonly canFilter: boolean;
  save?(path: string): Promise<void> | void;
  /** Opens what was saved without reading the whole of it, answers one query, and closes it. */
  view?(path: string, query: Float32Array): Promise<void> | void;
  close(): void | Promise<void>;
}

/** The same set in the forms that libraries take. */
export interface AllowedVectors {
  readonly keys: Float64Array;
  /** Key n is bit n % 32 of number n / 32. */
  readonly bits: Uint32Array;
  has(key: number): boolean;
}

interface LibraryOptions {
  readonly dimensions: number;
  /** Vectors that will be added at most. */
  readonly capacity: number;
}

export type CreateLibrary = (options: LibraryOptions) => VectorLibrary | Promise<VectorLibrary>;

export function allowVectors(keys: Float64Array, count: number): AllowedVectors {
  const bits = new Uint32Array(Math.ceil(count / 32));
  for (const key of keys) bits[key >>> 5] = (bits[key >>> 5] ?? 0) | (1 << (key & 31));
  return { keys, bits, has: (key) => ((bits[key >>> 5] ?? 0) & (1 << (key & 31))) !== 0 };
}
