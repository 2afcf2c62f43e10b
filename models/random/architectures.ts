/**
 * What llama.cpp asks of each architecture: hyper-parameters and tensors, from src/models/<name>.cpp and src/llama-arch.cpp.
 *
 * Output weights are the embeddings (llama.cpp ties them when there is no output tensor). Embeddings are small against what the
 * layers add, so that a model does not merely repeat its last token; queries, keys and attention outputs are large, so that what
 * it says depends on all that came before (a wrong KV cache shows).
 */
import type { GgufMetadata, GgufValue } from '../../ts/server/platform/gguf/gguf-value.ts';
import type { Shape, Vocabulary } from './shapes.ts';
import { bias, embedding, matrix, matrixWithBias, norm, normWithBias, type TensorSpec, table } from './tensor-spec.ts';

export interface Architecture {
  /** general.architecture, and the prefix of its keys. */
  name: string;
  vocabulary: Vocabulary;
  purpose: 'chat' | 'embedding' | 'rerank';
  /** Where positions are a table, the longest context that keeps it small. */
  maxContext?: number;
  hyperparameters(shape: Shape): [key: string, value: GgufValue][];
  tensors(shape: Shape, nVocab: number): TensorSpec[];
}

const attentionGain = 2;

const llama: Architecture = {
  name: 'llama',
  vocabulary: 'llama-spm',
  purpose: 'chat',
  hyperparameters: (shape) => [...rotary(shape), rmsEpsilon],
  tensors: (shape, nVocab) => [
    ...tokens(shape, nVocab),
    ...layers(shape, (layer) => [...attention(layer, shape), ...gatedFeedForward(layer, shape)]),
  ],
};

const qwen2: Architecture = {
  ...llama,
  name: 'qwen2',
  vocabulary: 'qwen2',
  tensors: (shape, nVocab) => [
    ...llama.tensors(shape, nVocab),
    ...layers(shape, (layer) => [
      bias(`${layer}.attn_q`, shape.nEmbd),
      bias(`${layer}.attn_k`, keyLength(shape)),
      bias(`${layer}.attn_v`, keyLength(shape)),
    ]),
  ],
};

const qwen3: Architecture = {
  ...llama,
  name: 'qwen3',
  vocabulary: 'qwen2',
  hyperparameters: (shape) => [...rotary(shape), ...headLengths(shape), rmsEpsilon],
  tensors: (shape, nVocab) => [
    ...llama.tensors(shape, nVocab),
    ...layers(shape, (layer) => [
      norm(`${layer}.attn_q_norm`, headLength(shape)),
      norm(`${layer}.attn_k_norm`, headLength(shape)),
    ]),
  ],
};

/** Scales its embeddings by the root of the width, so they are drawn smaller and the last norm makes up for it. */
const gemma2: Architecture = {
  name: 'gemma2',
  vocabulary: 'llama-spm',
  purpose: 'chat',
  hyperparameters: (shape) => [
    ...rotary(shape),
    ...headLengths(shape),
    rmsEpsilon,
    ['attention.sliding_window', { type: 'uint32', value: 512 }],
    ['attn_logit_softcapping', { type: 'float32', value: 50 }],
    ['final_logit_softcapping', { type: 'float32', value: 30 }],
  ],
  tensors: (shape, nVocab) => [
    embedding('token_embd', shape.nEmbd, nVocab, 1 / shape.nEmbd),
    norm('output_norm', shape.nEmbd, Math.sqrt(shape.nEmbd)),
    ...layers(shape, (layer) => [
      ...attention(layer, shape),
      norm(`${layer}.post_attention_norm`, shape.nEmbd),
      ...gatedFeedForward(layer, shape),
      norm(`${layer}.post_ffw_norm`, shape.nEmbd),
    ]),
  ],
};

const phi3: Architecture = {
  name: 'phi3',
  vocabulary: 'phi-3',
  purpose: 'chat',
  hyperparameters: (shape) => [
    ...rotary(shape),
    rmsEpsilon,
    ['rope.scaling.original_context_length', { type: 'uint32', value: shape.nContext }],
  ],
  tensors: (shape, nVocab) => [
    ...tokens(shape, nVocab),
    ...layers(shape, (layer) => [
      norm(`${layer}.attn_norm`, shape.nEmbd),
      matrix(`${layer}.attn_qkv`, shape.nEmbd, shape.nEmbd + 2 * keyLength(shape), attentionGain),
      matrix(`${layer}.attn_output`, shape.nEmbd, shape.nEmbd, attentionGain),
      norm(`${layer}.ffn_norm`, shape.nEmbd),
      matrix(`${layer}.ffn_up`, shape.nEmbd, 2 * shape.nFeedForward),
      matrix(`${layer}.ffn_down`, shape.nFeedForward, shape.nEmbd),
    ]),
  ],
};

const gpt2: Architecture = {
  name: 'gpt2',
  vocabulary: 'gpt-2',
  purpose: 'chat',
  maxContext: 4_096,
  hyperparameters: () => [layerEpsilon],
  tensors: (shape, nVocab) => [
    embedding('token_embd', shape.nEmbd, nVocab, 1 / Math.sqrt(shape.nEmbd)),
    table('position_embd', shape.nEmbd, shape.nContext),
    ...normWithBias('output_norm', shape.nEmbd),
    ...layers(shape, (layer) => [
      ...normWithBias(`${layer}.attn_norm`, shape.nEmbd),
      ...matrixWithBias(`${layer}.attn_qkv`, shape.nEmbd, 3 * shape.nEmbd, attentionGain),
      ...matrixWithBias(`${layer}.attn_output`, shape.nEmbd, shape.nEmbd, attentionGain),
      ...normWithBias(`${layer}.ffn_norm`, shape.nEmbd),
      ...plainFeedForward(layer, shape),
    ]),
  ],
};

const bert: Architecture = {
  name: 'bert',
  vocabulary: 'bert-bge',
  purpose: 'embedding',
  maxContext: 512,
  hyperparameters: () => [...encoder, ['pooling_type', { type: 'uint32', value: 2 }]],
  tensors: (shape, nVocab) => [
    embedding('token_embd', shape.nEmbd, nVocab, 1),
    table('token_types', shape.nEmbd, 2),
    table('position_embd', shape.nEmbd, shape.nContext),
    ...normWithBias('token_embd_norm', shape.nEmbd),
    ...layers(shape, (layer) => [
      ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].flatMap((name) =>
        matrixWithBias(`${layer}.${name}`, shape.nEmbd, shape.nEmbd, attentionGain),
      ),
      ...normWithBias(`${layer}.attn_output_norm`, shape.nEmbd),
      ...plainFeedForward(layer, shape),
      ...normWithBias(`${layer}.layer_output_norm`, shape.nEmbd),
    ]),
  ],
};

const reranker: Architecture = {
  ...bert,
  purpose: 'rerank',
  hyperparameters: () => [...encoder, ['pooling_type', { type: 'uint32', value: 4 }]],
  tensors: (shape, nVocab) => [
    ...bert.tensors(shape, nVocab),
    ...matrixWithBias('cls', shape.nEmbd, shape.nEmbd),
    ...matrixWithBias('cls.output', shape.nEmbd, 1, 3),
  ],
};

export const architectures = { llama, qwen2, qwen3, gemma2, phi3, gpt2, bert, reranker };
export type ArchitectureName = keyof typeof architectures;

/** Metadata under the architecture's own prefix. */
export function describeShape(architecture: Architecture, shape: Shape, nVocab: number): GgufMetadata {
  const integers: Record<string, number> = {
    vocab_size: nVocab,
    context_length: shape.nContext,
    embedding_length: shape.nEmbd,
    block_count: shape.nLayer,
    feed_forward_length: shape.nFeedForward,
    'attention.head_count': shape.nHead,
  };
  const common = Object.entries(integers).map(([key, value]): [string, GgufValue] => [key, { type: 'uint32', value }]);
  const own = architecture.hyperparameters(shape);
  return new Map([...common, ...own].map(([key, value]) => [`${architecture.name}.${key}`, value]));
}

const rmsEpsilon: [string, GgufValue] = ['attention.layer_norm_rms_epsilon', { type: 'float32', value: 1e-5 }];
const layerEpsilon: [string, GgufValue] = ['attention.layer_norm_epsilon', { type: 'float32', value: 1e-5 }];
const encoder: [string, GgufValue][] = [layerEpsilon, ['attention.causal', { type: 'bool', value: false }]];

function headLength({ nEmbd, nHead }: Shape): number {
  return nEmbd / nHead;
}

function keyLength(shape: Shape): number {
  return headLength(shape) * shape.nHeadKv;
}

function rotary(shape: Shape): [string, GgufValue][] {
  return [
    ['attention.head_count_kv', { type: 'uint32', value: shape.nHeadKv }],
    ['rope.dimension_count', { type: 'uint32', value: headLength(shape) }],
  ];
}

function headLengths(shape: Shape): [string, GgufValue][] {
  return ['attention.key_length', 'attention.value_length'].map((key) => [key, { type: 'uint32', value: headLength(shape) }]);
}

function tokens({ nEmbd }: Shape, nVocab: number): TensorSpec[] {
  return [embedding('token_embd', nEmbd, nVocab, 1 / Math.sqrt(nEmbd)), norm('output_norm', nEmbd)];
}

function layers({ nLayer }: Shape, tensors: (prefix: string) => TensorSpec[]): TensorSpec[] {
  return Array.from({ length: nLayer }, (_, index) => tensors(`blk.${index}`)).flat();
}

function attention(layer: string, shape: Shape): TensorSpec[] {
  return [
    norm(`${layer}.attn_norm`, shape.nEmbd),
    matrix(`${layer}.attn_q`, shape.nEmbd, shape.nEmbd, attentionGain),
    matrix(`${layer}.attn_k`, shape.nEmbd, keyLength(shape), attentionGain),
    matrix(`${layer}.attn_v`, shape.nEmbd, keyLength(shape)),
    matrix(`${layer}.attn_output`, shape.nEmbd, shape.nEmbd, attentionGain),
  ];
}

function gatedFeedForward(layer: string, { nEmbd, nFeedForward }: Shape): TensorSpec[] {
  return [
    norm(`${layer}.ffn_norm`, nEmbd),
    matrix(`${layer}.ffn_gate`, nEmbd, nFeedForward),
    matrix(`${layer}.ffn_up`, nEmbd, nFeedForward),
    matrix(`${layer}.ffn_down`, nFeedForward, nEmbd),
  ];
}

function plainFeedForward(layer: string, { nEmbd, nFeedForward }: Shape): TensorSpec[] {
  return [...matrixWithBias(`${layer}.ffn_up`, nEmbd, nFeedForward), ...matrixWithBias(`${layer}.ffn_down`, nFeedForward, nEmbd)];
}
