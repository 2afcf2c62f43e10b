/** What makes vectors of texts. */
export interface EmbedOptions {
  readonly tenant: string;
  readonly signal: AbortSignal;
  /** Nobody waits for it: what somebody waits for goes first. */
  readonly isBackground?: boolean;
}

export interface Embedded {
  /** One of length 1 for each text, in their order. */
  readonly vectors: readonly Float32Array[];
  /** How many tokens each text has; undefined where the service does not say. */
  readonly nTokens: readonly number[] | undefined;
}

export interface Embedder {
  /** Throws DataError `embedding_failed`, or what the model's queue refuses with. */
  embed(model: string, texts: readonly string[], options: EmbedOptions): Promise<Embedded>;
}

/** Vectors of length 1: the product of two is then their cosine. A vector of zeros stays. */
export function normalised(vector: Float32Array): Float32Array {
  let square = 0;
  for (const value of vector) square += value * value;
  if (square === 0) return vector;
  const length = Math.sqrt(square);
  return vector.map((value) => value / length);
}
