/**
 * Rules for the keys and tensors of a voice's files. The library that speaks trusts their numbers and ends the process where one is off, so that every
 * key and every tensor has to be what the architecture wants, and there is nothing else.
 */
import {
  findNumber,
  findString,
  type GgufElementType,
  type GgufMetadata,
  type GgufValue,
} from '../../../../platform/gguf/gguf-value.ts';
import type { TensorRow } from './tensor-row.ts';

interface FoundTensor {
  name: string;
  dims: number[];
  type: string;
}

/** A key that may be there: its type, and what is wrong with its value. */
type KeyRule = readonly [type: GgufValue['type'] | `${GgufElementType}[]`, isRight?: (value: number) => boolean];
export type KeyRules = Readonly<Record<string, KeyRule>>;

export class VoiceFault extends Error {}

export const MOST_WIDTH = 8_192;
const MOST_LAYERS = 128;
/** A graph of the library has 8,192 nodes. */
const MOST_CODEC_LAYERS = 32;
/** The library copies the table of embeddings as floats. */
const MOST_EMBEDDINGS = 2 ** 30;
const WEIGHTS = new Set(['f32', 'f16', 'bf16', 'q8_0', 'q4_0', 'q4_1', 'q5_0', 'q5_1', 'q2_k', 'q3_k', 'q4_k', 'q5_k', 'q6_k']);

export const within = (least: number, most: number) => (value: number) =>
  Number.isInteger(value) && value >= least && value <= most;
export const isFinitePositive = (value: number) => value > 0 && value < 1e9;

const describing: KeyRules = {
  'general.architecture': ['string'],
  'general.name': ['string'],
  'general.description': ['string'],
  'general.type': ['string'],
};

export const tokenizerRules = (nTokens: number): KeyRules => {
  const isToken = within(0, nTokens - 1);
  const ids = ['bos', 'eos', 'eot', 'eom', 'unknown', 'seperator', 'padding', 'cls', 'mask'];
  const flags = ['add_bos_token', 'add_eos_token', 'add_sep_token', 'add_space_prefix', 'remove_extra_whitespaces'];
  return {
    'tokenizer.ggml.model': ['string'],
    'tokenizer.ggml.pre': ['string'],
    'tokenizer.ggml.tokens': ['string[]'],
    'tokenizer.ggml.scores': ['float32[]', Number.isFinite],
    'tokenizer.ggml.token_type': ['int32[]', within(0, 6)],
    'tokenizer.ggml.merges': ['string[]'],
    'tokenizer.ggml.precompiled_charsmap': ['uint8[]'],
    'tokenizer.ggml.suppress_tokens': ['int32[]', isToken],
    ...Object.fromEntries(ids.map((id): [string, KeyRule] => [`tokenizer.ggml.${id}_token_id`, ['uint32', isToken]])),
    ...Object.fromEntries(flags.map((flag): [string, KeyRule] => [`tokenizer.ggml.${flag}`, ['bool']])),
  };
};

export interface HeldFile {
  metadata: GgufMetadata;
  tensors: readonly FoundTensor[];
}

/** The required keys are there, and no others but these. */
export function checkKeys({ metadata }: HeldFile, required: KeyRules, optional: KeyRules): void {
  const all = { ...describing, ...required, ...optional };
  for (const [key, value] of metadata) {
    const rule = all[key];
    // Whatever describes the file is read by nobody.
    if (rule === undefined && /^(general|svc|quantize)\./.test(key)) continue;
    if (rule === undefined) throw new VoiceFault(`it has the key ${key}, which no such file has`);
    const [type, isRight = () => true] = rule;
    const found = value.type === 'array' ? `${value.elementType}[]` : value.type;
    if (found !== type) throw new VoiceFault(`its ${key} is of the type ${found}, and not ${type}`);
    const values = value.type === 'array' ? [...(value.values ?? [])] : [value.value];
    if (type !== 'string' && type !== 'string[]' && !values.every((each) => isRight(Number(each))))
      throw new VoiceFault(`its ${key} is out of range`);
  }
  for (const key of Object.keys(required)) if (!metadata.has(key)) throw new VoiceFault(`it lacks the key ${key}`);
}

/** Every row is there, and no other tensor. */
export function checkTensors({ tensors }: HeldFile, rows: readonly TensorRow[]): void {
  const found = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  for (const { name, dims, kind } of rows) {
    const tensor = found.get(name);
    if (tensor === undefined) throw new VoiceFault(`it lacks the tensor ${name}`);
    found.delete(name);
    if (shapeOf(tensor.dims) !== shapeOf(dims))
      throw new VoiceFault(`its tensor ${name} is ${tensor.dims.join(' x ')}, and not ${dims.join(' x ')}`);
    const fits = {
      weight: WEIGHTS.has(tensor.type),
      filter: ['f32', 'f16', 'bf16'].includes(tensor.type),
      kernel: tensor.type === 'f16',
      plain: tensor.type === 'f32',
    };
    if (!fits[kind]) throw new VoiceFault(`its tensor ${name} is of the type ${tensor.type}`);
  }
  const [other] = found.keys();
  if (other !== undefined) throw new VoiceFault(`it has the tensor ${other}, which no such file has`);
}

function shapeOf(dims: readonly number[]): string {
  return dims.join().replace(/(,1)+$/, '');
}

/** A dimension of a tensor, from which the others follow. */
export function dimensionOf(file: HeldFile, name: string, index: number, least: number, most: number): number {
  const tensor = file.tensors.find((each) => each.name === name);
  if (tensor === undefined) throw new VoiceFault(`it lacks the tensor ${name}`);
  const size = tensor.dims[index] ?? 1;
  if (size < least || size > most) throw new VoiceFault(`its tensor ${name} is ${tensor.dims.join(' x ')}`);
  return size;
}

/** A number that is there, as checkKeys() has seen. */
export const numberOf = (file: HeldFile, key: string) => findNumber(file.metadata, key) ?? 0;

export function checkVocabulary(width: number, nTokens: number): void {
  if (width * nTokens > MOST_EMBEDDINGS) throw new VoiceFault('its table of embeddings is too large');
}

/** Pairs of places of a head turn with the position. */
export function checkHeads(width: number, heads: number): void {
  if (width % heads !== 0 || (width / heads) % 2 !== 0) throw new VoiceFault(`it divides a width of ${width} by ${heads} heads`);
}

/** The sizes that the text model of every voice names. */
export function modelRules(name: string): KeyRules {
  return {
    [`${name}.context_length`]: ['uint32', within(512, 2 ** 20)],
    [`${name}.embedding_length`]: ['uint32', within(2, MOST_WIDTH)],
    [`${name}.block_count`]: ['uint32', within(1, MOST_LAYERS)],
    [`${name}.feed_forward_length`]: ['uint32', within(1, 4 * MOST_WIDTH)],
    [`${name}.attention.head_count`]: ['uint32', within(1, 256)],
  };
}

/** The keys of a projector that hears a sample and makes sound, for a text model of this width. */
export function projectorRules(width: number, nMelBins: number): KeyRules {
  return {
    'clip.has_audio_encoder': ['bool', (value) => value === 1],
    'clip.has_gen_audio_encoder': ['bool', (value) => value === 1],
    'clip.audio.num_mel_bins': ['uint32', (value) => value === nMelBins],
    ...halfRules('audio', width),
    ...halfRules('gen.audio', width),
  };
}

export const optionalProjectorRules: KeyRules = { 'clip.has_vision_encoder': ['bool', (value) => value === 0] };

function halfRules(name: 'audio' | 'gen.audio', width: number): KeyRules {
  return {
    [`clip.${name}.projector_type`]: ['string'],
    [`clip.${name}.embedding_length`]: ['uint32', within(2, MOST_WIDTH)],
    [`clip.${name}.feed_forward_length`]: ['uint32', within(1, 4 * MOST_WIDTH)],
    [`clip.${name}.block_count`]: ['uint32', within(1, MOST_CODEC_LAYERS)],
    [`clip.${name}.projection_dim`]: ['uint32', (value) => value === width],
    [`clip.${name}.attention.head_count`]: ['uint32', within(1, 256)],
    [`clip.${name}.attention.layer_norm_epsilon`]: ['float32', isFinitePositive],
  };
}

export function checkProjectorTypes(file: HeldFile, encoder: string, generator: string): void {
  const types = ['clip.audio.projector_type', 'clip.gen.audio.projector_type'].map((key) => findString(file.metadata, key));
  if (types[0] !== encoder || types[1] !== generator)
    throw new VoiceFault(`its projector is of the types ${types.join(' and ')}, and not ${encoder} and ${generator}`);
}
