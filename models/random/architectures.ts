/**
 * What llama.cpp asks of each architecture: hyper-parameters and tensors, from src/models/<name>.cpp and src/llama-arch.cpp.
 *
 * Output weights are the embeddings (llama.cpp ties them when there is no output tensor). Embeddings are small against what the
 * layers add, so that a model does not merely repeat its last token; queries, keys and attention outputs are large, so that what
 * it says depends on all that came before (a wrong KV cache shows).
 */
import type { GgufMetadata, GgufValue } from '../../ts/server/platform/gguf/gguf-value.ts';
import type { Architecture } from './architecture.ts';
import {
  attention,
  attentionGain,
  gatedFeedForward,
  type Hyperparameter,
  headLengths,
  headNorms,
  keyLength,
  layerEpsilon,
  layers,
  plainFeedForward,
  rmsEpsilon,
  rotary,
  tokens,
} from './layers.ts';
import { gemma3, jamba, mamba, qwen3moe } from './mixed-architectures.ts';
import type { Shape } from './shapes.ts';
import { bias, embedding, matrix, matrixWithBias, norm, normWithBias, table } from './tensor-spec.ts';

const encoder: Hyperparameter[] = [layerEpsilon, ['attention.causal', { type: 'bool', value: false }]];

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
  tensors: (shape, nVocab) => [...llama.tensors(shape, nVocab), ...layers(shape, (layer) => headNorms(layer, shape))],
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

export const architectures = {
  llama,
  qwen2,
  qwen3,
  qwen3moe,
  gemma2,
  gemma3,
  phi3,
  gpt2,
  mamba,
  jamba,
  bert,
  reranker,
};
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
