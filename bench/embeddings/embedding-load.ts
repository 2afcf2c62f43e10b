/** Texts embedded in a closed loop: each client sends its next request when the last one is answered. */
export interface EmbeddingLoad {
  kind: 'embeddings';
  clients: number;
  /** Texts of the whole round, the same ones for both sides. */
  nTexts: number;
  textsPerRequest: number;
  lengths: TextLengths;
}

/** Words of a text; with the vocabularies of BERT a word of ours is one token. */
export type TextLengths = 'query' | 'sentence' | 'paragraph' | 'near-full' | 'mixed';
