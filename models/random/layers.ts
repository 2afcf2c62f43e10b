/** What the layers of several architectures have in common: hyper-parameters and tensors by the names of llama.cpp (src/llama-arch.cpp). */
import type { GgufValue } from '../../ts/server/platform/gguf/gguf-value.ts';
import type { Shape } from './shapes.ts';
import { embedding, matrix, matrixWithBias, norm, type TensorSpec } from './tensor-spec.ts';

export type Hyperparameter = [key: string, value: GgufValue];

/** Queries, keys and attention outputs are large, so that what a model says depends on all that came before. */
export const attentionGain = 2;

export const rmsEpsilon: Hyperparameter = ['attention.layer_norm_rms_epsilon', { type: 'float32', value: 1e-5 }];
export const layerEpsilon: Hyperparameter = ['attention.layer_norm_epsilon', { type: 'float32', value: 1e-5 }];

function headLength({ nEmbd, nHead }: Shape): number {
  return nEmbd / nHead;
}

export function keyLength(shape: Shape): number {
  return headLength(shape) * shape.nHeadKv;
}

export function rotary(shape: Shape): Hyperparameter[] {
  return [
    ['attention.head_count_kv', { type: 'uint32', value: shape.nHeadKv }],
    ['rope.dimension_count', { type: 'uint32', value: headLength(shape) }],
  ];
}

export function headLengths(shape: Shape): Hyperparameter[] {
  return ['attention.key_length', 'attention.value_length'].map((key) => [key, { type: 'uint32', value: headLength(shape) }]);
}

export function tokens({ nEmbd }: Shape, nVocab: number): TensorSpec[] {
  return [embedding('token_embd', nEmbd, nVocab, 1 / Math.sqrt(nEmbd)), norm('output_norm', nEmbd)];
}

export function layers({ nLayer }: Shape, tensors: (prefix: string) => TensorSpec[]): TensorSpec[] {
  return Array.from({ length: nLayer }, (_, index) => tensors(`blk.${index}`)).flat();
}

export function attention(layer: string, shape: Shape): TensorSpec[] {
  return [
    norm(`${layer}.attn_norm`, shape.nEmbd),
    matrix(`${layer}.attn_q`, shape.nEmbd, shape.nEmbd, attentionGain),
    matrix(`${layer}.attn_k`, shape.nEmbd, keyLength(shape), attentionGain),
    matrix(`${layer}.attn_v`, shape.nEmbd, keyLength(shape)),
    matrix(`${layer}.attn_output`, shape.nEmbd, shape.nEmbd, attentionGain),
  ];
}

/** Queries and keys are normalised head by head. */
export function headNorms(layer: string, shape: Shape): TensorSpec[] {
  return ['q', 'k'].map((name) => norm(`${layer}.attn_${name}_norm`, headLength(shape)));
}

export function gatedFeedForward(layer: string, { nEmbd, nFeedForward }: Shape): TensorSpec[] {
  return [
    norm(`${layer}.ffn_norm`, nEmbd),
    matrix(`${layer}.ffn_gate`, nEmbd, nFeedForward),
    matrix(`${layer}.ffn_up`, nEmbd, nFeedForward),
    matrix(`${layer}.ffn_down`, nFeedForward, nEmbd),
  ];
}

export function plainFeedForward(layer: string, { nEmbd, nFeedForward }: Shape): TensorSpec[] {
  return [...matrixWithBias(`${layer}.ffn_up`, nEmbd, nFeedForward), ...matrixWithBias(`${layer}.ffn_down`, nFeedForward, nEmbd)];
}

export function uint32(key: string, value: number): Hyperparameter {
  return [key, { type: 'uint32', value }];
}
