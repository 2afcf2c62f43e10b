/** Sizes of a random model. */
export interface Shape {
  nLayer: number;
  nEmbd: number;
  nHead: number;
  nHeadKv: number;
  nFeedForward: number;
  nContext: number;
  /** Overrides the architecture's own vocabulary. */
  vocabulary?: Vocabulary;
}

/** Tokenizers that llama.cpp carries as models/ggml-vocab-<name>.gguf. */
export type Vocabulary = 'llama-spm' | 'llama-bpe' | 'qwen2' | 'phi-3' | 'gpt-2' | 'bert-bge';

export const shapes = {
  /** Quick to make and to load: for tests and the demonstration model. */
  tiny: { nLayer: 2, nEmbd: 64, nHead: 4, nHeadKv: 2, nFeedForward: 192, nContext: 4_096 },
  /** Slow enough on a small CPU that scheduling shows. */
  mid: { nLayer: 8, nEmbd: 512, nHead: 8, nHeadKv: 4, nFeedForward: 1_536, nContext: 8_192 },
  /** The proportions of a model of half a billion parameters. */
  q05: { nLayer: 24, nEmbd: 896, nHead: 14, nHeadKv: 2, nFeedForward: 4_864, nContext: 32_768, vocabulary: 'qwen2' },
  /** Those of a model of a billion parameters, for GPUs. */
  b1: { nLayer: 16, nEmbd: 2_048, nHead: 32, nHeadKv: 8, nFeedForward: 8_192, nContext: 131_072, vocabulary: 'qwen2' },
} satisfies Record<string, Shape>;

export type ShapeName = keyof typeof shapes;
