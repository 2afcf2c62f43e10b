/**
 * Makes voices of random weights: a text model, and the projector that turns its states into sound. They speak noise, for as long as a voice of trained
 * weights might. Keys: conversion/pockettts.py of llama.cpp.
 */
import {
  type PocketSizes,
  pocketModelTensors,
  pocketProjectorTensors,
} from '../../ts/server/domains/media/voices/gguf/pocket-tensors.ts';
import {
  QWEN_CODES,
  type QwenSizes,
  qwenModelTensors,
  qwenProjectorTensors,
} from '../../ts/server/domains/media/voices/gguf/qwen-tensors.ts';
import type { TensorRow } from '../../ts/server/domains/media/voices/gguf/tensor-row.ts';
import type { GgufMetadata, GgufValue } from '../../ts/server/platform/gguf/gguf-value.ts';
import { writeGguf } from '../../ts/server/platform/gguf/gguf-writer.ts';
import { randomTensor } from './random-model.ts';
import type { WeightType } from './tensor-encoder.ts';
import type { TensorSpec } from './tensor-spec.ts';

export interface RandomVoiceOptions {
  shape?: 'pocket' | 'qwen';
  seed?: number;
  /** A voice of Pocket TTS's shape ends a sentence by itself at once; else the library does so, after as long as the text may take. */
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

export function randomVoiceParts({ shape = 'pocket', ends = false }: RandomVoiceOptions = {}): {
  model: VoicePart;
  projector: VoicePart;
} {
  // The end of speech is a number above a threshold.
  const means = new Map([['a.gen.out_eos.bias', ends ? 100 : -100]]);
  const part = (metadata: GgufMetadata, rows: readonly TensorRow[]) => ({
    metadata,
    tensors: rows.map((row) => tensorOf(row, means)),
  });
  if (shape === 'qwen')
    return {
      model: part(describeQwen(), qwenModelTensors(qwenSizes)),
      projector: part(describeQwenProjector(), qwenProjectorTensors(qwenSizes)),
    };
  return {
    model: part(describeModel(), pocketModelTensors(sizes)),
    projector: part(describeProjector(), pocketProjectorTensors(sizes)),
  };
}

export function writeVoicePart(path: string, { metadata, tensors }: VoicePart, seed = 1): Promise<void> {
  return writeGguf(path, { metadata, tensors: tensors.map(({ spec, type }) => randomTensor(spec, seed, type)) });
}

/** Writes both files of a voice, the model last. */
export async function writeRandomVoice(
  modelPath: string,
  projectorPath: string,
  { seed = 1, ...options }: RandomVoiceOptions = {},
): Promise<void> {
  const { model, projector } = randomVoiceParts(options);
  await writeVoicePart(projectorPath, projector, seed);
  await writeVoicePart(modelPath, model, seed);
}

type Half = 'audio' | 'gen.audio';

function headOf(architecture: string, type: string): [string, GgufValue][] {
  return [
    ['general.architecture', text(architecture)],
    ['general.type', text(type)],
    ['general.name', text('svc random voice')],
    ['general.file_type', count(1)],
    ['svc.demonstration', { type: 'bool', value: true }],
  ];
}

/** Half a projector, for a text model of this width. */
function halfOf(
  name: Half,
  modelWidth: number,
  [width, feedForward, layers, nHeads]: readonly [number, number, number, number],
): [string, GgufValue][] {
  return [
    [`clip.${name}.embedding_length`, count(width)],
    [`clip.${name}.feed_forward_length`, count(feedForward)],
    [`clip.${name}.block_count`, count(layers)],
    [`clip.${name}.projection_dim`, count(modelWidth)],
    [`clip.${name}.attention.head_count`, count(nHeads)],
    [`clip.${name}.attention.layer_norm_epsilon`, small],
  ];
}

function describeModel(): GgufMetadata {
  const { tokens, types, scores } = vocabulary;
  return new Map<string, GgufValue>([
    ...headOf('pockettts', 'model'),
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
  const half = (name: Half, layers: number) => halfOf(name, width, [codec.width, codec.feedForward, layers, codecHeads]);
  return new Map<string, GgufValue>([
    ...headOf('clip', 'mmproj'),
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
  const isScale = /norm|ln\d|ls\d|std|alpha|beta|gamma/.test(name) && !name.endsWith('.bias');
  const nIn = kind === 'weight' ? (dims[0] ?? 1) : (dims[0] ?? 1) * (dims[1] ?? 1);
  const deviation = kind === 'plain' ? 0.1 : 1 / Math.sqrt(nIn);
  const isWeight = kind !== 'plain';
  return {
    spec: { name, dims: [...dims], mean: means.get(name) ?? (isScale ? 1 : 0), deviation, isWeight },
    type: isWeight ? 'f16' : 'f32',
  };
}

/** Letters that GPT-2's tokenizer writes bytes as. */
function byteLetters(): string[] {
  const isPlain = (byte: number) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte !== 173);
  let others = 0;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPlain(byte) ? byte : 256 + others++));
}

const SPOKEN_CODES = 2048;
const qwenTokens = [
  ...byteLetters(),
  ...['<|im_start|>', '<|im_end|>', '<tts_pad>', '<tts_text_bos>', '<tts_text_eod>'],
  ...Array.from({ length: SPOKEN_CODES }, (_, index) => `<|codec_${index}|>`),
  ...['bos', 'eos_token', 'pad', 'think', 'think_bos', 'think_eos', 'language_english', 'language_german'].map(
    (name) => `<|codec_${name}|>`,
  ),
];
const nQwenTokens = qwenTokens.indexOf('<|codec_0|>') + QWEN_CODES;
while (qwenTokens.length < nQwenTokens) qwenTokens.push(`<|codec_spare_${qwenTokens.length}|>`);

const qwenSizes: QwenSizes = {
  width: 64,
  layers: 1,
  feedForward: 64,
  vocabulary: nQwenTokens,
  heads: 2,
  keyHeads: 1,
  headWidth: 16,
  speaker: { channels: 16, squeezed: 4, gathered: 16, attention: 8 },
  predictor: { width: 32, layers: 1, feedForward: 32, heads: 2, keyHeads: 1, headWidth: 16, vocabulary: 64, isProjected: true },
  decoder: {
    codeWidth: 8,
    firstVocabulary: SPOKEN_CODES,
    restVocabulary: 64,
    quantised: 16,
    channels: 16,
    width: 32,
    attention: 64,
    feedForward: 32,
    hidden: 32,
    dac: [16, 8, 4, 2, 2],
    strides: [8, 5, 4, 3],
  },
};

function describeQwen(): GgufMetadata {
  const { width, layers, feedForward, heads: nHead, keyHeads, headWidth } = qwenSizes;
  const types = qwenTokens.map((token) => (/^<.+>$/.test(token) ? 3 : 1));
  return new Map<string, GgufValue>([
    ...headOf('qwen3tts', 'model'),
    ['qwen3tts.context_length', count(4096)],
    ['qwen3tts.embedding_length', count(width)],
    ['qwen3tts.block_count', count(layers)],
    ['qwen3tts.feed_forward_length', count(feedForward)],
    ['qwen3tts.attention.head_count', count(nHead)],
    ['qwen3tts.attention.head_count_kv', count(keyHeads)],
    ['qwen3tts.attention.key_length', count(headWidth)],
    ['qwen3tts.attention.value_length', count(headWidth)],
    ['qwen3tts.attention.layer_norm_rms_epsilon', small],
    ['qwen3tts.rope.freq_base', { type: 'float32', value: 1_000_000 }],
    ['qwen3tts.rope.dimension_sections', { type: 'array', elementType: 'int32', length: 4, values: [4, 2, 2, 0] }],
    ['tokenizer.ggml.model', text('gpt2')],
    ['tokenizer.ggml.pre', text('qwen2')],
    ['tokenizer.ggml.tokens', { type: 'array', elementType: 'string', length: nQwenTokens, values: [...qwenTokens] }],
    ['tokenizer.ggml.token_type', { type: 'array', elementType: 'int32', length: nQwenTokens, values: types }],
    ['tokenizer.ggml.merges', { type: 'array', elementType: 'string', length: 1, values: ['t h'] }],
    ['tokenizer.ggml.eos_token_id', count(qwenTokens.indexOf('<|codec_eos_token|>'))],
    ['tokenizer.ggml.add_eos_token', { type: 'bool', value: false }],
  ]);
}

function describeQwenProjector(): GgufMetadata {
  const { width, predictor } = qwenSizes;
  return new Map<string, GgufValue>([
    ...headOf('clip', 'mmproj'),
    ['clip.has_audio_encoder', { type: 'bool', value: true }],
    ['clip.audio.projector_type', text('qwen3tts_spkenc')],
    ['clip.audio.num_mel_bins', count(128)],
    // The encoder has neither attention nor feed-forward layers, and the reader wants their numbers.
    ...halfOf('audio', width, [1536, 1536, 3, 1]),
    ['clip.has_gen_audio_encoder', { type: 'bool', value: true }],
    ['clip.gen.audio.projector_type', text('qwen3tts_gen')],
    ...halfOf('gen.audio', width, [predictor.width, predictor.feedForward, predictor.layers, predictor.heads]),
    ['clip.gen.audio.attention.head_count_kv', count(predictor.keyHeads)],
  ]);
}
