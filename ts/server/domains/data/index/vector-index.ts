/** Finds the vectors nearest to one. Vectors have length 1, so that the product of two is the cosine of their angle. */
export interface VectorIndex {
  readonly dimensions: number;
  readonly sizeBytes: number;
  /** Ids are small numbers; a vector that has the id already is replaced. Throws RangeError for a vector of other dimensions. */
  add(id: number, vector: Float32Array): void;
  remove(id: number): void;
  /** At most `k`, best first. `allowed` says which ids may be found, default all: id n by bit n % 32 of number n / 32. */
  search(query: Float32Array, k: number, allowed?: Uint32Array): VectorHit[];
  /** The cosine of one; undefined: it is not there. */
  similarity(query: Float32Array, id: number): number | undefined;
  /** Gives its memory back; nothing is asked of it afterwards. */
  close(): void;
}

/** Vectors that can be kept in a file. */
export interface KeptVectors extends VectorIndex {
  /** Of all that are there, in no order. */
  ids(): Float64Array;
  /** Resolves when searches are as fast as they will be. */
  link(): Promise<void>;
  /** Replaces the file at once and whole. Rejects with NativeError. */
  save(path: string): Promise<void>;
}

/** Undefined: there is no faster kind on this machine. */
export type CreateVectors = (dimensions: number) => VectorIndex | undefined;

export interface VectorHit {
  readonly id: number;
  /** Cosine, -1 to 1. */
  readonly score: number;
}

export function canBeKept(vectors: VectorIndex): vectors is KeptVectors {
  return 'save' in vectors;
}
