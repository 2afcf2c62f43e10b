/**
 * Makes voices of random weights: a text model, and the projector that turns its states into sound. They speak noise, for as long as a voice of trained
 * weights might. Keys: conversion/pockettts.py of llama.cpp.
 */
import {
  type PocketSizes,
  pocketModelTensors,
  pocketProjectorTensors,
} from '../../ts/server/domains/media/voices/gguf/pocket-tensors.ts';
import type { TensorRow } from '../../ts/server/domains/media/voices/gguf/tensor-row.ts';
import type { GgufMetadata, GgufValue } from '../../ts/server/platform/gguf/gguf-value.ts';
import { writeGguf } from '../../ts/server/platform/gguf/gguf-writer.ts';
import { randomTensor } from './random-model.ts';
import type { WeightType } from './tensor-encoder.ts';
import type { TensorSpec } from './tensor-spec.ts';

export interface RandomVoiceOptions {
  seed?: number;
  /** It ends a sentence by itself at once; else the library does so, after as long as the text may take. */
  ends?: boolean;
}

const heads = 4;
const codecHeads = 2;

/** A small unigram vocabulary that spells English; every other letter is the unknown token. */
function unigrams(): { tokens: string[]; types: number[]; scores: number[] } {
  const [normal, unknown, control] = [1, 2, 3];
  const letters = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
  const rows: [string, number, number][] = [
    ['<pad>', control, 0],
    ['</s>', control, 0],
    ['<unk>', unknown, 0],
    ['▁', normal, -2],
    ...['▁the', 'ing', '▁a', 'er'].map((text): [string, number, number] => [text, normal, -1]),
    ...letters.map((text): [string, number, number] => [text, normal, -3]),
    ['<|pad|>', control, -1000],
    ['<|bos_before_voice|>', control, -1000],
    ['<|audio_bos|>', control, -1000],
  ];
  return { tokens: rows.map(([text]) => text), types: rows.map(([, type]) => type), scores: rows.map(([, , score]) => score) };
}

const vocabulary = unigrams();

const sizes: PocketSizes = {
  width: 64,
  layers: 2,
  feedForward: 128,
  vocabulary: vocabulary.tokens.length,
  codec: { width: 32, feedForward: 64, encoderLayers: 1, decoderLayers: 1 },
  encoder: { kernels: { input: 7, output: 3, unit: 3 }, channels: [4, 8, 16, 32], hidden: [2, 4, 8] },
  decoder: { kernels: { input: 7, output: 3, unit: 3 }, channels: [4, 8, 16, 32], hidden: [2, 4, 8] },
  voiceLatent: 8,
  latent: 8,
  flow: { width: 32, feedForward: 32, frequencies: 8, blocks: 1 },
};

const text = (value: string): GgufValue => ({ type: 'string', value });
const count = (value: number): GgufValue => ({ type: 'uint32', value });
const small: GgufValue = { type: 'float32', value: 1e-5 };

/** One of a voice's two files, before it is written. */
export interface VoicePart {
  metadata: GgufMetadata;
  tensors: { spec: TensorSpec; type: WeightType }[];
}

export function randomVoiceParts(ends = false): { model: VoicePart; projector: VoicePart } {
  // The end of speech is a number above a threshold.
  const means = new Map([['a.gen.out_eos.bias', ends ? 100 : -100]]);
  return {
    model: { metadata: describeModel(), tensors: pocketModelTensors(sizes).map((row) => tensorOf(row, means)) },
    projector: { metadata: describeProjector(), tensors: pocketProjectorTensors(sizes).map((row) => tensorOf(row, means)) },
  };
}

export function writeVoicePart(path: string, { metadata, tensors }: VoicePart, seed = 1): Promise<void> {
  return writeGguf(path, { metadata, tensors: tensors.map(({ spec, type }) => randomTensor(spec, seed, type)) });
}

/** Writes both files of a voice of Pocket TTS's shape, the model last. */
export async function writeRandomVoice(
  modelPath: string,
  projectorPath: string,
  { seed = 1, ends = false }: RandomVoiceOptions = {},
): Promise<void> {
  const { model, projector } = randomVoiceParts(ends);
  await writeVoicePart(projectorPath, projector, seed);
  await writeVoicePart(modelPath, model, seed);
}

function describeModel(): GgufMetadata {
  const { tokens, types, scores } = vocabulary;
  return new Map<string, GgufValue>([
    ['general.architecture', text('pockettts')],
    ['general.type', text('model')],
    ['general.name', text('svc random voice')],
    ['general.file_type', count(1)],
    ['svc.demonstration', { type: 'bool', value: true }],
    ['pockettts.context_length', count(4096)],
    ['pockettts.embedding_length', count(sizes.width)],
    ['pockettts.block_count', count(sizes.layers)],
    ['pockettts.feed_forward_length', count(sizes.feedForward)],
    ['pockettts.attention.head_count', count(heads)],
    ['pockettts.attention.layer_norm_epsilon', small],
    ['pockettts.rope.freq_base', { type: 'float32', value: 10_000 }],
    ['pockettts.vocab_size', count(tokens.length)],
    ['tokenizer.ggml.model', text('t5')],
    ['tokenizer.ggml.pre', text('default')],
    ['tokenizer.ggml.tokens', { type: 'array', elementType: 'string', length: tokens.length, values: [...tokens] }],
    ['tokenizer.ggml.scores', { type: 'array', elementType: 'float32', length: scores.length, values: scores }],
    ['tokenizer.ggml.token_type', { type: 'array', elementType: 'int32', length: types.length, values: types }],
    ['tokenizer.ggml.add_space_prefix', { type: 'bool', value: true }],
    ['tokenizer.ggml.remove_extra_whitespaces', { type: 'bool', value: true }],
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: false }],
    ['tokenizer.ggml.add_eos_token', { type: 'bool', value: false }],
  ]);
}

function describeProjector(): GgufMetadata {
  const { codec, width } = sizes;
  const half = (name: string, layers: number): [string, GgufValue][] => [
    [`clip.${name}.embedding_length`, count(codec.width)],
    [`clip.${name}.feed_forward_length`, count(codec.feedForward)],
    [`clip.${name}.block_count`, count(layers)],
    [`clip.${name}.projection_dim`, count(width)],
    [`clip.${name}.attention.head_count`, count(codecHeads)],
    [`clip.${name}.attention.layer_norm_epsilon`, small],
  ];
  return new Map<string, GgufValue>([
    ['general.architecture', text('clip')],
    ['general.type', text('mmproj')],
    ['general.name', text('svc random voice')],
    ['general.file_type', count(1)],
    ['svc.demonstration', { type: 'bool', value: true }],
    ['clip.has_audio_encoder', { type: 'bool', value: true }],
    ['clip.audio.projector_type', text('pockettts_spkenc')],
    ['clip.audio.num_mel_bins', count(1)],
    ...half('audio', codec.encoderLayers),
    ['clip.has_gen_audio_encoder', { type: 'bool', value: true }],
    ['clip.gen.audio.projector_type', text('pockettts_gen')],
    ['clip.gen.audio.model_variant', text('english')],
    ...half('gen.audio', codec.decoderLayers),
  ]);
}

function tensorOf({ name, dims, kind }: TensorRow, means: ReadonlyMap<string, number>): VoicePart['tensors'][number] {
  const isScale = /norm|ln\d|ls\d|std/.test(name) && !name.endsWith('.bias');
  const nIn = kind === 'weight' ? (dims[0] ?? 1) : (dims[0] ?? 1) * (dims[1] ?? 1);
  const deviation = kind === 'plain' ? 0.1 : 1 / Math.sqrt(nIn);
  const isWeight = kind === 'weight' || kind === 'kernel';
  return {
    spec: { name, dims: [...dims], mean: means.get(name) ?? (isScale ? 1 : 0), deviation, isWeight },
    type: isWeight ? 'f16' : 'f32',
  };
}
