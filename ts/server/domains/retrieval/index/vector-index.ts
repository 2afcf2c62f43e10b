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

/** Vectors that can be saved in a file. */
export interface SavableVectors extends VectorIndex {
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

export function canBeSaved(vectors: VectorIndex): vectors is SavableVectors {
  return 'save' in vectors;
}

/** How numbers of vectors lie in memory: half floats, or bytes or bits beside half floats on the disk. */
export type VectorStorageKind = 'f16' | 'i8' | 'b1';

export interface VectorStorageOptions {
  readonly kind: VectorStorageKind;
  /** For what need not be in memory; of kinds other than f16. */
  readonly exactFolder: string;
}

/** What an operator should know. */
export interface VectorNotice {
  readonly code: 'vector_addon_unavailable' | 'vector_folder_unavailable';
  readonly reason: string;
}

/** Where native indexes of vectors come from. */
export interface OpenVectors {
  /** Undefined: addons cannot be loaded here. */
  create(dimensions: number, label: string): SavableVectors | undefined;
  /** Of a file that stays mapped. Rejects with NativeError, and as loading the addon does. */
  open(path: string, dimensions: number, label: string): Promise<SavableVectors>;
}
