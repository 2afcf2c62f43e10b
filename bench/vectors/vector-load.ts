/** Searching vectors by a library itself, without a server: each side indexes the same vectors and answers the same queries. */
export interface VectorLoad {
  kind: 'vectors';
  /** From a generator with clusters as embeddings have them, or XQuAD's texts through the default embedding model. */
  data: 'clustered' | 'xquad';
  /** Vectors in the index; of XQuAD as many as there are, if they are fewer. */
  count: number;
  /** Of clustered vectors; XQuAD's have those of the model. */
  dimensions: number;
  queries: number;
  /** Shares of the vectors that may be found, beside all of them. */
  filters: readonly number[];
  /** How long searches arrive while vectors are added, seconds; 0 leaves it out. */
  addingSeconds: number;
}

/** Hits that are asked for. */
export const K = 10;
/** Recall that counts as an answer. */
export const LEAST_RECALL = 0.99;
/** While vectors are added. */
export const ADDED_PER_SECOND = 1_000;
export const SEARCHES_PER_SECOND = 100;

/** What the process that makes a set is told. */
export interface SetJob {
  /** Of what the libraries are given. */
  folder: string;
  load: VectorLoad;
  seed: number;
}

/** What a library's process is told. */
export interface VectorJob extends SetJob {
  library: string;
}
