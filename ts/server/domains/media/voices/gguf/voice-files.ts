/**
 * Reads the two files of a voice: a text model, and the projector that turns its states into sound. The library that speaks trusts their numbers and ends
 * the process where one is off, so that every key and every tensor has to be what the architecture wants, and there is nothing else.
 */
import { readGguf } from '../../../../platform/gguf/gguf-reader.ts';
import {
  findNumber,
  findString,
  findStrings,
  type GgufElementType,
  type GgufMetadata,
  type GgufValue,
} from '../../../../platform/gguf/gguf-value.ts';
import { POCKET_STRIDES, type PocketSizes, pocketModelTensors, pocketProjectorTensors } from './pocket-tensors.ts';
import type { TensorRow } from './tensor-row.ts';

export interface VoiceFacts {
  architecture: string;
  sampleRate: number;
  /** The model's file names it. */
  license: string | undefined;
}

interface FoundTensor {
  name: string;
  dims: number[];
  type: string;
}

/** A key that may be there: its type, and what is wrong with its value. */
type KeyRule = readonly [type: GgufValue['type'] | `${GgufElementType}[]`, isRight?: (value: number) => boolean];
type KeyRules = Readonly<Record<string, KeyRule>>;

class VoiceFault extends Error {}

const RATE = 24_000;
const MOST_WIDTH = 8_192;
const MOST_LAYERS = 128;
/** A graph of the library has 8,192 nodes. */
const MOST_CODEC_LAYERS = 32;
const MOST_FLOW_BLOCKS = 64;
/** The library copies the table of embeddings as floats. */
const MOST_EMBEDDINGS = 2 ** 30;
const WEIGHTS = new Set(['f32', 'f16', 'bf16', 'q8_0', 'q4_0', 'q4_1', 'q5_0', 'q5_1', 'q2_k', 'q3_k', 'q4_k', 'q5_k', 'q6_k']);

const within = (least: number, most: number) => (value: number) => Number.isInteger(value) && value >= least && value <= most;
const isFinitePositive = (value: number) => value > 0 && value < 1e9;

const describing: KeyRules = {
  'general.architecture': ['string'],
  'general.name': ['string'],
  'general.description': ['string'],
  'general.type': ['string'],
};

const tokenizerRules = (nTokens: number): KeyRules => {
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

/** Throws an error whose message says what is amiss. */
export async function readVoiceFiles(modelPath: string, projectorPath: string): Promise<VoiceFacts> {
  const model = await readGguf(modelPath, { arrays: 'load' });
  const projector = await readGguf(projectorPath, { arrays: 'load' });
  for (const { split } of [model, projector])
    if (split !== undefined) throw new VoiceFault('a voice has no files of several parts');
  const architecture = findString(model.metadata, 'general.architecture') ?? 'none';
  const tokens = readTokens(model.metadata);
  if (architecture !== 'pockettts')
    throw new VoiceFault(`its model is of the architecture ${architecture}, which does not speak`);
  readPocket(model, projector, tokens);
  return { architecture, sampleRate: RATE, license: findString(model.metadata, 'general.license') };
}

interface HeldFile {
  metadata: GgufMetadata;
  tensors: readonly FoundTensor[];
}

/** The tokens are named once each, and everything that there is for each token is there for all. */
function readTokens(metadata: GgufMetadata): readonly string[] {
  const tokens = findStrings(metadata, 'tokenizer.ggml.tokens') ?? [];
  if (tokens.length < 8) throw new VoiceFault(`its vocabulary has ${tokens.length} tokens`);
  if (new Set(tokens).size !== tokens.length || tokens.some((token) => token === '' || token.includes('\0')))
    throw new VoiceFault('its vocabulary names a token twice, or one that is empty');
  for (const key of ['scores', 'token_type']) {
    const value = metadata.get(`tokenizer.ggml.${key}`);
    if (value?.type === 'array' && value.length !== tokens.length)
      throw new VoiceFault(`it has ${value.length} ${key} for ${tokens.length} tokens`);
  }
  const map = metadata.get('tokenizer.ggml.precompiled_charsmap');
  if (map?.type === 'array' && !isCharacterMap(Uint8Array.from((map.values ?? []) as readonly number[])))
    throw new VoiceFault('its map of characters is damaged');
  return tokens;
}

/** The length of a table of words of four bytes, the table, and texts that each end with a zero. */
function isCharacterMap(bytes: Uint8Array): boolean {
  if (bytes.length < 5) return false;
  const nBytes = new DataView(bytes.buffer).getUint32(0, true);
  return nBytes % 4 === 0 && nBytes <= bytes.length - 5 && bytes.at(-1) === 0;
}

function checkKeys({ metadata }: HeldFile, rules: KeyRules, required: readonly string[]): void {
  const all = { ...describing, ...rules };
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
  for (const key of required) if (!metadata.has(key)) throw new VoiceFault(`it lacks the key ${key}`);
}

/** Every row is there, and no other tensor. */
function checkTensors({ tensors }: HeldFile, rows: readonly TensorRow[]): void {
  const found = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  for (const { name, dims, kind } of rows) {
    const tensor = found.get(name);
    if (tensor === undefined) throw new VoiceFault(`it lacks the tensor ${name}`);
    found.delete(name);
    if (shapeOf(tensor.dims) !== shapeOf(dims))
      throw new VoiceFault(`its tensor ${name} is ${tensor.dims.join(' x ')}, and not ${dims.join(' x ')}`);
    const fits = {
      weight: WEIGHTS.has(tensor.type),
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
function dimensionOf(file: HeldFile, name: string, index: number, least: number, most: number): number {
  const tensor = file.tensors.find((each) => each.name === name);
  if (tensor === undefined) throw new VoiceFault(`it lacks the tensor ${name}`);
  const size = tensor.dims[index] ?? 1;
  if (size < least || size > most) throw new VoiceFault(`its tensor ${name} is ${tensor.dims.join(' x ')}`);
  return size;
}

/** A number that is there, as checkKeys() has seen. */
const numberOf = (file: HeldFile, key: string) => findNumber(file.metadata, key) ?? 0;

/** Pairs of places of a head turn with the position. */
function checkHeads(width: number, heads: number): void {
  if (width % heads !== 0 || (width / heads) % 2 !== 0) throw new VoiceFault(`it divides a width of ${width} by ${heads} heads`);
}

/** The keys of half a projector, without those of its type. */
function projectorRules(name: 'audio' | 'gen.audio', width: number): KeyRules {
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

function checkProjectorTypes(file: HeldFile, encoder: string, generator: string): void {
  const types = ['clip.audio.projector_type', 'clip.gen.audio.projector_type'].map((key) => findString(file.metadata, key));
  if (types[0] !== encoder || types[1] !== generator)
    throw new VoiceFault(`its projector is of the types ${types.join(' and ')}, and not ${encoder} and ${generator}`);
}

function readPocket(model: HeldFile, projector: HeldFile, tokens: readonly string[]): void {
  const name = 'pockettts';
  if (findString(model.metadata, 'tokenizer.ggml.model') !== 't5') throw new VoiceFault('its tokenizer is none of Pocket TTS');
  if (!tokens.includes('<|audio_bos|>')) throw new VoiceFault('its vocabulary has no <|audio_bos|>');
  const required = ['context_length', 'embedding_length', 'block_count', 'feed_forward_length', 'attention.head_count'];
  const width = numberOf(model, `${name}.embedding_length`);
  const heads = numberOf(model, `${name}.attention.head_count`);
  const rules: KeyRules = {
    ...tokenizerRules(tokens.length),
    [`${name}.context_length`]: ['uint32', within(512, 2 ** 20)],
    [`${name}.embedding_length`]: ['uint32', within(2, MOST_WIDTH)],
    [`${name}.block_count`]: ['uint32', within(1, MOST_LAYERS)],
    [`${name}.feed_forward_length`]: ['uint32', within(1, 4 * MOST_WIDTH)],
    [`${name}.attention.head_count`]: ['uint32', within(1, 256)],
    [`${name}.attention.head_count_kv`]: ['uint32', (value) => value === heads],
    [`${name}.attention.key_length`]: ['uint32', (value) => value === width / heads],
    [`${name}.attention.value_length`]: ['uint32', (value) => value === width / heads],
    [`${name}.attention.layer_norm_epsilon`]: ['float32', isFinitePositive],
    [`${name}.rope.dimension_count`]: ['uint32', (value) => value === width / heads],
    [`${name}.rope.freq_base`]: ['float32', isFinitePositive],
    [`${name}.vocab_size`]: ['uint32', (value) => value === tokens.length],
  };
  checkKeys(
    model,
    rules,
    [...required, 'attention.layer_norm_epsilon'].map((key) => `${name}.${key}`),
  );
  checkHeads(width, heads);
  if (width * tokens.length > MOST_EMBEDDINGS) throw new VoiceFault('its table of embeddings is too large');
  const ofProjector: KeyRules = {
    'clip.has_audio_encoder': ['bool', (value) => value === 1],
    'clip.has_gen_audio_encoder': ['bool', (value) => value === 1],
    'clip.has_vision_encoder': ['bool', (value) => value === 0],
    'clip.audio.num_mel_bins': ['uint32', (value) => value === 1],
    'clip.gen.audio.model_variant': ['string'],
    ...projectorRules('audio', width),
    ...projectorRules('gen.audio', width),
  };
  const optional = ['clip.has_vision_encoder', 'clip.gen.audio.model_variant'];
  checkKeys(
    projector,
    ofProjector,
    Object.keys(ofProjector).filter((key) => !optional.includes(key)),
  );
  checkProjectorTypes(projector, 'pockettts_spkenc', 'pockettts_gen');
  const sizes = pocketSizes(model, projector, width, tokens.length);
  if (sizes.flow.blocks > MOST_FLOW_BLOCKS) throw new VoiceFault(`its flow has ${sizes.flow.blocks} blocks`);
  for (const half of ['audio', 'gen.audio'])
    checkHeads(sizes.codec.width, numberOf(projector, `clip.${half}.attention.head_count`));
  checkTensors(model, pocketModelTensors(sizes));
  checkTensors(projector, pocketProjectorTensors(sizes));
}

function pocketSizes(model: HeldFile, projector: HeldFile, width: number, vocabulary: number): PocketSizes {
  const half = (key: string) => {
    const [encoder, decoder] = ['audio', 'gen.audio'].map((name) => numberOf(projector, `clip.${name}.${key}`));
    if (encoder !== decoder) throw new VoiceFault(`the halves of its codec differ in ${key}`);
    return encoder ?? 0;
  };
  const at = (name: string, index: number, least = 1) => dimensionOf(projector, `${name}.weight`, index, least, MOST_WIDTH);
  const length = (name: string) => dimensionOf(projector, `${name}.weight`, 0, 2, 32);
  // Inputs come before outputs, but for the decoder's kernels that scale. One channel would be taken for a group.
  const encoder = (name: string, index: number) => at(`a.seanet.${name}`, index, 2);
  const decoder = (name: string, index: number) => at(`a.gen.wav.seanet.${name}`, index, 2);
  const kernels = (name: string) => ({
    input: length(`${name}.conv_in`),
    output: length(`${name}.conv_out`),
    unit: length(`${name}.blk.0.res_conv1`),
  });
  const stages = POCKET_STRIDES.map((_, index) => index);
  return {
    width,
    vocabulary,
    layers: numberOf(model, 'pockettts.block_count'),
    feedForward: numberOf(model, 'pockettts.feed_forward_length'),
    codec: {
      width: half('embedding_length'),
      feedForward: half('feed_forward_length'),
      encoderLayers: numberOf(projector, 'clip.audio.block_count'),
      decoderLayers: numberOf(projector, 'clip.gen.audio.block_count'),
    },
    encoder: {
      kernels: kernels('a.seanet'),
      channels: [encoder('conv_in', 2), ...stages.map((index) => encoder(`blk.${index}.scale_conv`, 2))],
      hidden: stages.map((index) => at(`a.seanet.blk.${index}.res_conv1`, 2)),
    },
    decoder: {
      kernels: kernels('a.gen.wav.seanet'),
      channels: [...stages.map((index) => decoder(`blk.${2 - index}.scale_conv`, 1)), decoder('conv_in', 2)],
      hidden: stages.map((index) => at(`a.gen.wav.seanet.blk.${2 - index}.res_conv1`, 2)),
    },
    voiceLatent: at('a.speaker_proj', 0),
    latent: at('a.gen.input_linear', 0),
    flow: {
      width: at('a.gen.flow.input_proj', 1, 2),
      feedForward: at('a.gen.flow.blk.0.up', 1),
      frequencies: dimensionOf(projector, 'a.gen.flow.time.0.freqs', 0, 1, MOST_WIDTH),
      blocks: projector.tensors.filter(({ name }) => /^a\.gen\.flow\.blk\.\d+\.norm\.weight$/.test(name)).length,
    },
  };
}
