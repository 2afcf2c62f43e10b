/**
 * Makes a projector for random models: a small LLaVA-style encoder for images and a small Whisper-style one for sounds, so that both run
 * from end to end.
 */
import type { GgufMetadata, GgufValue } from '../../ts/server/platform/gguf/gguf-value.ts';
import { writeGguf } from '../../ts/server/platform/gguf/gguf-writer.ts';
import { randomTensor } from './random-model.ts';
import { type ShapeName, shapes } from './shapes.ts';
import { matrixWithBias, normWithBias, type TensorSpec, table } from './tensor-spec.ts';

export interface RandomProjectorOptions {
  /** Of the text model, whose width the projector's outputs have. */
  shape?: ShapeName;
  seed?: number;
  /** It hears too. */
  hears?: boolean;
}

/** 16 patches of 14 pixels: 16 tokens an image. The last layer is not evaluated (tools/mtmd/models/llava.cpp). */
const vision = { imageSize: 56, patchSize: 14, nEmbd: 64, nHead: 4, nLayer: 3, nFeedForward: 128 };
const nPatches = (vision.imageSize / vision.patchSize) ** 2;

/** 1,500 places for 30 seconds, of which two make a token (tools/mtmd/models/whisper-enc.cpp). */
const hearing = { nMel: 80, nPlaces: 1500, nEmbd: 64, nHead: 4, nLayer: 2, nFeedForward: 128 };

/** Names and keys: tools/mtmd/clip-impl.h. */
export async function writeRandomProjector(
  path: string,
  { shape = 'tiny', seed = 1, hears = false }: RandomProjectorOptions = {},
): Promise<void> {
  const { nEmbd } = shapes[shape];
  const specs = [...tensors(nEmbd), ...(hears ? soundTensors(nEmbd) : [])];
  await writeGguf(path, {
    metadata: new Map([...describe(nEmbd, hears), ...(hears ? describeHearing(nEmbd) : [])]),
    tensors: specs.map((spec) => randomTensor(spec, seed, spec.isWeight ? 'f16' : 'f32')),
  });
}

function describe(nEmbdText: number, hears: boolean): GgufMetadata {
  const sizes = {
    image_size: vision.imageSize,
    patch_size: vision.patchSize,
    embedding_length: vision.nEmbd,
    feed_forward_length: vision.nFeedForward,
    block_count: vision.nLayer,
    projection_dim: nEmbdText,
    'attention.head_count': vision.nHead,
  };
  const halves: GgufValue = { type: 'array', elementType: 'float32', length: 3, values: [0.5, 0.5, 0.5] };
  return new Map<string, GgufValue>([
    ['general.architecture', { type: 'string', value: 'clip' }],
    ['general.type', { type: 'string', value: 'mmproj' }],
    ['general.name', { type: 'string', value: 'svc random vision projector' }],
    ['general.file_type', { type: 'uint32', value: 1 }],
    ['svc.demonstration', { type: 'bool', value: true }],
    ['clip.has_vision_encoder', { type: 'bool', value: true }],
    [hears ? 'clip.vision.projector_type' : 'clip.projector_type', { type: 'string', value: 'mlp' }],
    ['clip.use_gelu', { type: 'bool', value: true }],
    ...Object.entries(sizes).map(([key, value]) => [`clip.vision.${key}`, { type: 'uint32', value }] as const),
    ['clip.vision.attention.layer_norm_epsilon', { type: 'float32', value: 1e-5 }],
    ['clip.vision.image_mean', halves],
    ['clip.vision.image_std', halves],
  ]);
}

function describeHearing(nEmbdText: number): GgufMetadata {
  const sizes = {
    embedding_length: hearing.nEmbd,
    feed_forward_length: hearing.nFeedForward,
    block_count: hearing.nLayer,
    projection_dim: nEmbdText,
    num_mel_bins: hearing.nMel,
    'attention.head_count': hearing.nHead,
  };
  return new Map<string, GgufValue>([
    ['clip.has_audio_encoder', { type: 'bool', value: true }],
    ['clip.audio.projector_type', { type: 'string', value: 'qwen2a' }],
    ...Object.entries(sizes).map(([key, value]) => [`clip.audio.${key}`, { type: 'uint32', value }] as const),
    ['clip.audio.attention.layer_norm_epsilon', { type: 'float32', value: 1e-5 }],
  ]);
}

function soundTensors(nEmbdText: number): TensorSpec[] {
  const { nMel, nPlaces, nEmbd, nFeedForward, nLayer } = hearing;
  return [
    ...convolution('a.conv1d.1', nMel, nEmbd),
    ...convolution('a.conv1d.2', nEmbd, nEmbd),
    table('a.position_embd', nEmbd, nPlaces),
    // Keys have no bias.
    ...Array.from({ length: nLayer }, (_, index) => layer(`a.blk.${index}`, nEmbd, nFeedForward))
      .flat()
      .filter(({ name }) => !name.endsWith('attn_k.bias')),
    ...normWithBias('a.post_ln', nEmbd),
    ...matrixWithBias('mm.a.fc', nEmbd, nEmbdText),
  ];
}

function convolution(name: string, nIn: number, nOut: number): TensorSpec[] {
  return [
    { name: `${name}.weight`, dims: [3, nIn, nOut], mean: 0, deviation: 1 / Math.sqrt(3 * nIn), isWeight: true },
    { name: `${name}.bias`, dims: [1, nOut], mean: 0, deviation: 0.1, isWeight: false },
  ];
}

function tensors(nEmbdText: number): TensorSpec[] {
  const { patchSize, nEmbd, nFeedForward, nLayer } = vision;
  const kernel = [patchSize, patchSize, 3, nEmbd];
  const scale = 1 / Math.sqrt(patchSize * patchSize * 3);
  return [
    { name: 'v.patch_embd.weight', dims: kernel, mean: 0, deviation: scale, isWeight: true },
    { name: 'v.class_embd', dims: [nEmbd], mean: 0, deviation: 1, isWeight: false },
    table('v.position_embd', nEmbd, nPatches + 1),
    ...normWithBias('v.pre_ln', nEmbd),
    ...Array.from({ length: nLayer }, (_, index) => layer(`v.blk.${index}`, nEmbd, nFeedForward)).flat(),
    ...matrixWithBias('mm.0', nEmbd, nEmbdText),
    ...matrixWithBias('mm.2', nEmbdText, nEmbdText),
  ];
}

function layer(name: string, nEmbd: number, nFeedForward: number): TensorSpec[] {
  return [
    ...['attn_q', 'attn_k', 'attn_v', 'attn_out'].flatMap((part) => matrixWithBias(`${name}.${part}`, nEmbd, nEmbd)),
    ...normWithBias(`${name}.ln1`, nEmbd),
    ...normWithBias(`${name}.ln2`, nEmbd),
    ...matrixWithBias(`${name}.ffn_up`, nEmbd, nFeedForward),
    ...matrixWithBias(`${name}.ffn_down`, nFeedForward, nEmbd),
  ];
}
