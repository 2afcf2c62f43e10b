/** What goes into native/vector and comes out of it. */

export interface VectorIndexOptions {
  /** Numbers of a vector, 1 to 65,536. */
  readonly dimensions: number;
  /** What the index is of (an embedding model, say), up to 256 bytes: saved with it, and a file of another label is refused. */
  readonly label?: string;
  /** Links of a vector, 4 to 64 (16): more find better in hard data and take more memory. */
  readonly connectivity?: number;
  /** Candidates that adding keeps, 8 to 4,096 (160). */
  readonly expansionAdd?: number;
  /** Candidates that searching keeps, 8 to 4,096 (88). */
  readonly expansionSearch?: number;
  /** Up to so many vectors, or vectors that may be found, each is compared (8,192). */
  readonly exactBelow?: number;
  /**
   * What searches compare first: half floats, or codes of a byte or a bit for each number, by which the best are found that are then compared
   * as half floats. Default: f16. A file of another storage is refused.
   */
  readonly storage?: 'f16' | 'i8' | 'b1';
  /** Folder of a file without a name, in which the half floats lie that codes stand for. Default: they are in memory too. */
  readonly exactFolder?: string;
  /** Vectors beside those that are asked for that are compared again as half floats, 0 to 100,000 (64 for i8, 512 for b1). */
  readonly rescored?: number;
}

/** Safe integers from 0 up. */
export type Keys = Float64Array | BigUint64Array;

/** A list of keys, or as Uint32Array a bit for each: key n is bit n % 32 of number n / 32. */
export type AllowedKeys = Keys | Uint32Array;

export interface VectorHit {
  readonly id: number;
  /** Cosine, -1 to 1. */
  readonly score: number;
}

export interface VectorIndexStats {
  readonly nVectors: number;
  /** Removed or replaced, and still taking memory until compact(). */
  readonly nRemoved: number;
  /** Reached by links, removed ones included. */
  readonly nLinked: number;
  /** Compared one by one, removed ones included. */
  readonly nUnlinked: number;
  readonly sizeBytes: number;
}

/** The same cosine three ways. */
export interface KernelProducts {
  readonly name: 'avx512-vpopcntdq' | 'avx512' | 'avx2' | 'neon' | 'plain';
  /** The first vector as it is, the second in half floats, as a search compares. */
  readonly product: number;
  /** Both in half floats, as linking compares. */
  readonly rowProduct: number;
  /** The first in half floats and back. */
  readonly floatProduct: number;
  /** Of both in bytes. */
  readonly byteProduct: number;
  /** Of the first one's bits beside four planes of the second one's. */
  readonly planeSum: number;
}
