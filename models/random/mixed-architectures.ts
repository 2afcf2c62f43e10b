/**
 * Architectures whose layers are more than attention and one feed-forward network, as src/models/<name>.cpp of llama.cpp has them: a
 * mixture of experts, a sliding window in every other layer, recurrent layers, and both kinds together.
 */
import type { Architecture } from './architecture.ts';
import { attention, gatedFeedForward, headLengths, headNorms, layers, rmsEpsilon, rotary, tokens, uint32 } from './layers.ts';
import type { Shape } from './shapes.ts';
import { bias, embedding, matrix, norm, type TensorSpec } from './tensor-spec.ts';

const nExperts = 4;
const nExpertsUsed = 2;
const routed = [uint32('expert_count', nExperts), uint32('expert_used_count', nExpertsUsed)];

export const qwen3moe: Architecture = {
  name: 'qwen3moe',
  vocabulary: 'llama-spm',
  purpose: 'chat',
  hyperparameters: (shape) => [
    ...rotary(shape),
    ...headLengths(shape),
    rmsEpsilon,
    ...routed,
    uint32('expert_feed_forward_length', expertLength(shape)),
  ],
  tensors: (shape, nVocab) => [
    ...tokens(shape, nVocab),
    ...layers(shape, (layer) => [
      ...attention(layer, shape),
      ...headNorms(layer, shape),
      ...mixture(layer, shape.nEmbd, expertLength(shape)),
    ]),
  ],
};

/** So narrow that tests' prompts are longer than it. Its embeddings are scaled as gemma2's are. */
const window = 24;

export const gemma3: Architecture = {
  name: 'gemma3',
  vocabulary: 'llama-spm',
  purpose: 'chat',
  hyperparameters: (shape) => [
    ...rotary(shape),
    ...headLengths(shape),
    rmsEpsilon,
    uint32('attention.sliding_window', window),
    uint32('attention.sliding_window_pattern', 2),
  ],
  tensors: (shape, nVocab) => [
    embedding('token_embd', shape.nEmbd, nVocab, 1 / shape.nEmbd),
    norm('output_norm', shape.nEmbd, Math.sqrt(shape.nEmbd)),
    ...layers(shape, (layer) => [
      ...attention(layer, shape),
      ...headNorms(layer, shape),
      norm(`${layer}.post_attention_norm`, shape.nEmbd),
      ...gatedFeedForward(layer, shape),
      norm(`${layer}.post_ffw_norm`, shape.nEmbd),
    ]),
  ],
};

export const mamba: Architecture = {
  name: 'mamba',
  vocabulary: 'llama-spm',
  purpose: 'chat',
  hyperparameters: (shape) => [
    ...stateSpace(shape),
    rmsEpsilon,
    uint32('attention.head_count', 0),
    uint32('feed_forward_length', 0),
  ],
  tensors: (shape, nVocab) => [
    ...tokens(shape, nVocab),
    ...layers(shape, (layer) => [norm(`${layer}.attn_norm`, shape.nEmbd), ...recurrence(layer, shape)]),
  ],
};

/** Even layers are recurrent, odd ones have attention and experts. */
export const jamba: Architecture = {
  name: 'jamba',
  vocabulary: 'llama-spm',
  purpose: 'chat',
  hyperparameters: (shape) => [
    ...stateSpace(shape),
    rmsEpsilon,
    ...routed,
    [
      'attention.head_count_kv',
      {
        type: 'array',
        elementType: 'uint32',
        length: shape.nLayer,
        values: Array.from({ length: shape.nLayer }, (_, index) => (isRecurrent(index) ? 0 : shape.nHeadKv)),
      },
    ],
  ],
  tensors: (shape, nVocab) => [
    ...tokens(shape, nVocab),
    ...Array.from({ length: shape.nLayer }, (_, index) => {
      const layer = `blk.${index}`;
      if (!isRecurrent(index)) return [...attention(layer, shape), ...mixture(layer, shape.nEmbd, shape.nFeedForward)];
      const norms = [
        norm(`${layer}.ssm_dt_norm`, timeRank(shape)),
        norm(`${layer}.ssm_b_norm`, stateSize),
        norm(`${layer}.ssm_c_norm`, stateSize),
      ];
      return [norm(`${layer}.attn_norm`, shape.nEmbd), ...recurrence(layer, shape), ...norms, ...gatedFeedForward(layer, shape)];
    }).flat(),
  ],
};

function isRecurrent(layer: number): boolean {
  return layer % 2 === 0;
}

function expertLength({ nFeedForward }: Shape): number {
  return nFeedForward / 2;
}

/** Experts, and what chooses among them, which stays f32 as llama.cpp's converter leaves it. */
function mixture(layer: string, nEmbd: number, nFeedForward: number): TensorSpec[] {
  const experts = (name: string, nIn: number, nOut: number): TensorSpec => ({
    ...matrix(`${layer}.${name}`, nIn, nOut),
    dims: [nIn, nOut, nExperts],
  });
  return [
    norm(`${layer}.ffn_norm`, nEmbd),
    { ...matrix(`${layer}.ffn_gate_inp`, nEmbd, nExperts, 2), isWeight: false },
    experts('ffn_gate_exps', nEmbd, nFeedForward),
    experts('ffn_up_exps', nEmbd, nFeedForward),
    experts('ffn_down_exps', nFeedForward, nEmbd),
  ];
}

const convolutionLength = 4;
const stateSize = 16;

/** llama.cpp takes no other expansion than 2. */
function innerSize({ nEmbd }: Shape): number {
  return 2 * nEmbd;
}

function timeRank({ nEmbd }: Shape): number {
  return Math.max(32, nEmbd / 16);
}

function stateSpace(shape: Shape) {
  return [
    uint32('ssm.conv_kernel', convolutionLength),
    uint32('ssm.inner_size', innerSize(shape)),
    uint32('ssm.state_size', stateSize),
    uint32('ssm.time_step_rank', timeRank(shape)),
  ];
}

/** A state that decays (`ssm_a` is negative) over tens of tokens, so that what a model says depends on more than the last ones. */
function recurrence(layer: string, shape: Shape): TensorSpec[] {
  const nInner = innerSize(shape);
  const plain = (name: string, dims: number[], mean: number, deviation: number): TensorSpec => ({
    name: `${layer}.${name}`,
    dims,
    mean,
    deviation,
    isWeight: false,
  });
  return [
    matrix(`${layer}.ssm_in`, shape.nEmbd, 2 * nInner),
    plain('ssm_conv1d.weight', [convolutionLength, nInner], 0, 0.5),
    bias(`${layer}.ssm_conv1d`, nInner),
    matrix(`${layer}.ssm_x`, nInner, timeRank(shape) + 2 * stateSize),
    matrix(`${layer}.ssm_dt`, timeRank(shape), nInner),
    plain('ssm_dt.bias', [nInner], -2, 0.5),
    plain('ssm_a', [stateSize, nInner], -0.5, 0.1),
    plain('ssm_d', [nInner], 1, 0.1),
    matrix(`${layer}.ssm_out`, nInner, shape.nEmbd, 3),
  ];
}
