/**
 * The tensors of Pocket TTS: a text model whose states a flow network turns into latents, and Mimi's decoder those into sound. Source: conversion/pockettts.py
 * and tools/mtmd/models/pockettts-*.cpp of llama.cpp.
 */
import { bias, kernel, linear, norm, plain, repeat, type TensorRow, weight } from './tensor-row.ts';

export interface PocketSizes {
  width: number;
  layers: number;
  feedForward: number;
  vocabulary: number;
  /** Mimi's own width, layers and feed-forward width, those of its encoder and decoder. */
  codec: { width: number; feedForward: number; encoderLayers: number; decoderLayers: number };
  /** Channels of the convolutions, from those next to the sound to those next to the latents. */
  encoder: Convolutions;
  decoder: Convolutions;
  /** Width of the latents between Mimi's encoder and the text model, and of those that the flow makes. */
  voiceLatent: number;
  latent: number;
  flow: { width: number; feedForward: number; frequencies: number; blocks: number };
}

interface Convolutions {
  /** Lengths of the first, of the last, and of the one in a unit. */
  kernels: { input: number; output: number; unit: number };
  channels: readonly number[];
  /** Inside of each unit. */
  hidden: readonly number[];
}

/** Samples that each stage of the encoder makes one of; the decoder goes the other way. */
export const POCKET_STRIDES = [4, 5, 6] as const;
const FRAME_STRIDE = 16;

export function pocketModelTensors({ width, layers, feedForward, vocabulary }: PocketSizes): TensorRow[] {
  return [
    weight('token_embd', width, vocabulary),
    ...norm('output_norm', width),
    ...repeat(layers, (index) => {
      const layer = `blk.${index}`;
      return [
        ...norm(`${layer}.attn_norm`, width),
        ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((part) => weight(`${layer}.${part}`, width, width)),
        ...norm(`${layer}.ffn_norm`, width),
        weight(`${layer}.ffn_up`, width, feedForward),
        weight(`${layer}.ffn_down`, feedForward, width),
      ];
    }),
  ];
}

export function pocketProjectorTensors(sizes: PocketSizes): TensorRow[] {
  const { width, codec, voiceLatent, latent, encoder, decoder } = sizes;
  return [
    ...encoderTensors(encoder, codec.width),
    ...repeat(codec.encoderLayers, (index) => codecLayer(`a.blk.${index}`, codec)),
    kernel('a.downsample.conv', 2 * FRAME_STRIDE, codec.width, voiceLatent),
    weight('a.speaker_proj', voiceLatent, width),
    ...flowTensors(sizes),
    ...linear('a.gen.out_eos', width, 1),
    weight('a.gen.input_linear', latent, width),
    plain('a.gen.emb_mean', latent),
    plain('a.gen.emb_std', latent),
    weight('a.gen.wav.quant_out', latent, codec.width),
    kernel('a.gen.wav.upsample', 2 * FRAME_STRIDE, 1, codec.width),
    ...repeat(codec.decoderLayers, (index) => codecLayer(`a.gen.wav.tfm.blk.${index}`, codec)),
    ...decoderTensors(decoder, codec.width),
  ];
}

function codecLayer(layer: string, { width, feedForward }: PocketSizes['codec']): TensorRow[] {
  return [
    ...norm(`${layer}.ln1`, width),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_out'].map((part) => weight(`${layer}.${part}`, width, width)),
    plain(`${layer}.ls1.weight`, width),
    ...norm(`${layer}.ln2`, width),
    weight(`${layer}.ffn_up`, width, feedForward),
    weight(`${layer}.ffn_down`, feedForward, width),
    plain(`${layer}.ls2.weight`, width),
  ];
}

function flowTensors({ width, latent, flow }: PocketSizes): TensorRow[] {
  const name = 'a.gen.flow';
  return [
    ...linear(`${name}.input_proj`, latent, flow.width),
    ...linear(`${name}.cond_embd`, width, flow.width),
    ...repeat(2, (index) => [
      plain(`${name}.time.${index}.freqs`, flow.frequencies),
      ...linear(`${name}.time.${index}.up`, 2 * flow.frequencies, flow.width),
      ...linear(`${name}.time.${index}.down`, flow.width, flow.width),
      plain(`${name}.time.${index}.norm`, flow.width),
    ]),
    ...repeat(flow.blocks, (index) => [
      ...norm(`${name}.blk.${index}.norm`, flow.width),
      ...linear(`${name}.blk.${index}.up`, flow.width, flow.feedForward),
      ...linear(`${name}.blk.${index}.down`, flow.feedForward, flow.width),
      // Shift, scale and gate.
      ...linear(`${name}.blk.${index}.ada`, flow.width, 3 * flow.width),
    ]),
    ...linear(`${name}.final.ada`, flow.width, 2 * flow.width),
    ...linear(`${name}.final.proj`, flow.width, latent),
  ];
}

function convolution(name: string, length: number, nIn: number, nOut: number): TensorRow[] {
  return [kernel(name, length, nIn, nOut), bias(name, nOut)];
}

function unit(name: string, length: number, channels: number, hidden: number): TensorRow[] {
  return [
    ...convolution(`${name}.res_conv1`, length, channels, hidden),
    ...convolution(`${name}.res_conv2`, 1, hidden, channels),
  ];
}

function encoderTensors({ kernels, channels, hidden }: Convolutions, codecWidth: number): TensorRow[] {
  const name = 'a.seanet';
  const at = (index: number) => channels[index] ?? 0;
  return [
    ...convolution(`${name}.conv_in`, kernels.input, 1, at(0)),
    ...POCKET_STRIDES.flatMap((stride, index) => [
      ...unit(`${name}.blk.${index}`, kernels.unit, at(index), hidden[index] ?? 0),
      ...convolution(`${name}.blk.${index}.scale_conv`, 2 * stride, at(index), at(index + 1)),
    ]),
    ...convolution(`${name}.conv_out`, kernels.output, at(3), codecWidth),
  ];
}

/** Kernels of transposed convolutions have the channels that come out before those that go in. */
function decoderTensors({ kernels, channels, hidden }: Convolutions, codecWidth: number): TensorRow[] {
  const name = 'a.gen.wav.seanet';
  const at = (index: number) => channels[index] ?? 0;
  return [
    ...convolution(`${name}.conv_in`, kernels.input, codecWidth, at(3)),
    ...POCKET_STRIDES.toReversed().flatMap((stride, index) => {
      const [nIn, nOut] = [at(3 - index), at(2 - index)];
      const scale = `${name}.blk.${index}.scale_conv`;
      return [
        kernel(scale, 2 * stride, nOut, nIn),
        bias(scale, nOut),
        ...unit(`${name}.blk.${index}`, kernels.unit, nOut, hidden[2 - index] ?? 0),
      ];
    }),
    ...convolution(`${name}.conv_out`, kernels.output, at(0), 1),
  ];
}
