/**
 * The tensors of Qwen3-TTS: a text model that samples the first code of a frame, a small one that finds the others, and a decoder of codes. Source:
 * conversion/qwen3tts.py and tools/mtmd/models/qwen3tts-*.cpp of llama.cpp.
 */
import { bias, filter, kernel, linear, norm, plain, repeat, type TensorRow, weight } from './tensor-row.ts';

export interface QwenSizes {
  width: number;
  layers: number;
  feedForward: number;
  vocabulary: number;
  heads: number;
  keyHeads: number;
  headWidth: number;
  speaker: { channels: number; squeezed: number; gathered: number; attention: number };
  predictor: {
    width: number;
    layers: number;
    feedForward: number;
    heads: number;
    keyHeads: number;
    headWidth: number;
    vocabulary: number;
    /** Its width differs from the text model's. */
    isProjected: boolean;
  };
  decoder: {
    codeWidth: number;
    firstVocabulary: number;
    restVocabulary: number;
    quantised: number;
    channels: number;
    width: number;
    attention: number;
    feedForward: number;
    hidden: number;
    /** Channels, from the entry on. */
    dac: readonly number[];
    strides: readonly number[];
  };
}

/** Rows of the head: codes, and the tokens behind them. The last rows of the vocabulary. */
export const QWEN_CODES = 3072;
const N_MELS = 128;
const N_BRANCHES = 7;
const N_ACOUSTIC = 15;
const DECODER_LAYERS = 8;
const N_UPSAMPLED = 2;
export const N_DAC_BLOCKS = 4;

export function qwenModelTensors(sizes: QwenSizes): TensorRow[] {
  const { width, layers, feedForward, vocabulary, heads, keyHeads, headWidth } = sizes;
  return [
    weight('token_embd', width, vocabulary),
    plain('output_norm.weight', width),
    weight('output', width, QWEN_CODES),
    ...repeat(layers, (index) => {
      const layer = `blk.${index}`;
      return [
        plain(`${layer}.attn_norm.weight`, width),
        weight(`${layer}.attn_q`, width, heads * headWidth),
        ...['attn_k', 'attn_v'].map((part) => weight(`${layer}.${part}`, width, keyHeads * headWidth)),
        weight(`${layer}.attn_output`, heads * headWidth, width),
        plain(`${layer}.attn_q_norm.weight`, headWidth),
        plain(`${layer}.attn_k_norm.weight`, headWidth),
        plain(`${layer}.ffn_norm.weight`, width),
        ...gated(layer, width, feedForward),
      ];
    }),
  ];
}

export function qwenProjectorTensors(sizes: QwenSizes): TensorRow[] {
  return [...speakerTensors(sizes), ...predictorTensors(sizes), ...decoderTensors(sizes.decoder)];
}

function gated(layer: string, width: number, feedForward: number): TensorRow[] {
  return [
    weight(`${layer}.ffn_gate`, width, feedForward),
    weight(`${layer}.ffn_up`, width, feedForward),
    weight(`${layer}.ffn_down`, feedForward, width),
  ];
}

function filtered(name: string, length: number, nIn: number, nOut: number): TensorRow[] {
  return [filter(name, length, nIn, nOut), bias(name, nOut)];
}

function convolution(name: string, length: number, nIn: number, nOut: number): TensorRow[] {
  return [kernel(name, length, nIn, nOut), bias(name, nOut)];
}

function speakerTensors({ width, speaker: { channels, squeezed, gathered, attention } }: QwenSizes): TensorRow[] {
  const branch = channels / (N_BRANCHES + 1);
  return [
    ...filtered('a.conv1d.0', 5, N_MELS, channels),
    ...repeat(3, (index) => {
      const block = `a.blk.${index + 1}`;
      return [
        ...filtered(`${block}.conv_pw1`, 1, channels, channels),
        ...filtered(`${block}.conv_pw2`, 1, channels, channels),
        ...filtered(`${block}.se_conv1`, 1, channels, squeezed),
        ...filtered(`${block}.se_conv2`, 1, squeezed, channels),
        ...repeat(N_BRANCHES, (part) => filtered(`${block}.res2.${part}`, 3, branch, branch)),
      ];
    }),
    ...filtered('a.conv_out', 1, 3 * channels, gathered),
    ...filtered('a.asp_tdnn', 1, 3 * gathered, attention),
    ...filtered('a.asp_attn', 1, attention, gathered),
    ...filtered('mm.a.fc', 1, 2 * gathered, width),
  ];
}

function predictorTensors({ width, predictor }: QwenSizes): TensorRow[] {
  const name = 'a.gen.code';
  const { width: own, layers, feedForward, heads, keyHeads, headWidth, vocabulary, isProjected } = predictor;
  return [
    ...(isProjected ? linear(`${name}.proj_in`, width, own) : []),
    weight(`${name}.embd`, width, vocabulary, N_ACOUSTIC),
    weight(`${name}.head`, own, vocabulary, N_ACOUSTIC),
    weight(`${name}.out_embd`, width, QWEN_CODES),
    plain(`${name}.output_norm.weight`, own),
    ...repeat(layers, (index) => {
      const layer = `${name}.blk.${index}`;
      return [
        weight(`${layer}.attn_q`, own, heads * headWidth),
        ...['attn_k', 'attn_v'].map((part) => weight(`${layer}.${part}`, own, keyHeads * headWidth)),
        weight(`${layer}.attn_out`, heads * headWidth, own),
        ...['attn_q_norm', 'attn_k_norm'].map((part) => plain(`${layer}.${part}.weight`, headWidth)),
        ...['ln1', 'ln2'].map((part) => plain(`${layer}.${part}.weight`, own)),
        ...gated(layer, own, feedForward),
      ];
    }),
  ];
}

function decoderTensors(sizes: QwenSizes['decoder']): TensorRow[] {
  const { codeWidth, firstVocabulary, restVocabulary, quantised, channels, width, attention, feedForward, hidden, dac } = sizes;
  const name = 'a.gen.wav';
  const last = dac[N_DAC_BLOCKS] ?? 0;
  return [
    weight(`${name}.quant.first.in_proj`, quantised, codeWidth),
    weight(`${name}.quant.first.out_proj`, codeWidth, quantised),
    weight(`${name}.quant.first.codebook`, codeWidth, firstVocabulary),
    weight(`${name}.quant.rest.in_proj`, quantised, codeWidth),
    weight(`${name}.quant.rest.out_proj`, codeWidth, quantised),
    weight(`${name}.quant.rest.codebook`, codeWidth, restVocabulary, N_ACOUSTIC),
    ...convolution(`${name}.pre_conv`, 3, quantised, channels),
    ...linear(`${name}.tfm.in_proj`, channels, width),
    ...linear(`${name}.tfm.out_proj`, width, channels),
    plain(`${name}.tfm.output_norm.weight`, width),
    ...repeat(DECODER_LAYERS, (index) => {
      const layer = `${name}.tfm.blk.${index}`;
      return [
        ...['attn_q', 'attn_k', 'attn_v'].map((part) => weight(`${layer}.${part}`, width, attention)),
        weight(`${layer}.attn_out`, attention, width),
        ...['ln1', 'ln2', 'ls1', 'ls2'].map((part) => plain(`${layer}.${part}.weight`, width)),
        ...gated(layer, width, feedForward),
      ];
    }),
    ...repeat(N_UPSAMPLED, (index) => {
      const block = `${name}.up.blk.${index}`;
      return [
        ...filtered(`${block}.conv`, 2, channels, channels),
        ...convolution(`${block}.dwconv`, 7, 1, channels),
        ...norm(`${block}.norm`, channels),
        ...linear(`${block}.pw1`, channels, hidden),
        ...linear(`${block}.pw2`, hidden, channels),
        plain(`${block}.gamma`, channels),
      ];
    }),
    ...convolution(`${name}.dac.entry`, 7, channels, dac[0] ?? 0),
    ...repeat(N_DAC_BLOCKS, (index) => dacBlock(`${name}.dac.blk.${index}`, sizes, index)),
    ...snake(`${name}.dac.post_snake`, last),
    ...convolution(`${name}.dac.post_conv`, 7, last, 1),
  ];
}

function snake(name: string, channels: number): TensorRow[] {
  return [plain(`${name}.alpha`, channels), plain(`${name}.beta`, channels)];
}

function dacBlock(block: string, { dac, strides }: QwenSizes['decoder'], index: number): TensorRow[] {
  const [nIn, nOut] = [dac[index] ?? 0, dac[index + 1] ?? 0];
  return [
    ...snake(`${block}.snake`, nIn),
    // A transposed convolution has the channels that come out before those that go in.
    filter(`${block}.conv`, 2 * (strides[index] ?? 0), nOut, nIn),
    bias(`${block}.conv`, nOut),
    ...repeat(3, (unit) => [
      ...snake(`${block}.res.${unit}.act1`, nOut),
      ...convolution(`${block}.res.${unit}.conv1`, 7, nOut, nOut),
      ...snake(`${block}.res.${unit}.act2`, nOut),
      ...convolution(`${block}.res.${unit}.conv2`, 1, nOut, nOut),
    ]),
  ];
}
