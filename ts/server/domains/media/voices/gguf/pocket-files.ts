/** Reads the files of a voice of Pocket TTS. */
import { findString } from '../../../../platform/gguf/gguf-value.ts';
import {
  checkHeads,
  checkKeys,
  checkProjectorTypes,
  checkTensors,
  checkVocabulary,
  dimensionOf,
  type HeldFile,
  isFinitePositive,
  type KeyRules,
  MOST_WIDTH,
  modelRules,
  numberOf,
  optionalProjectorRules,
  projectorRules,
  tokenizerRules,
  VoiceFault,
} from './file-checks.ts';
import { POCKET_STRIDES, type PocketSizes, pocketModelTensors, pocketProjectorTensors } from './pocket-tensors.ts';

const MOST_FLOW_BLOCKS = 64;

/** Throws VoiceFault. */
export function readPocket(model: HeldFile, projector: HeldFile, tokens: readonly string[]): undefined {
  const name = 'pockettts';
  if (findString(model.metadata, 'tokenizer.ggml.model') !== 't5') throw new VoiceFault('its tokenizer is none of Pocket TTS');
  if (!tokens.includes('<|audio_bos|>')) throw new VoiceFault('its vocabulary has no <|audio_bos|>');
  const width = numberOf(model, `${name}.embedding_length`);
  const heads = numberOf(model, `${name}.attention.head_count`);
  const required: KeyRules = { ...modelRules(name), [`${name}.attention.layer_norm_epsilon`]: ['float32', isFinitePositive] };
  const optional: KeyRules = {
    ...tokenizerRules(tokens.length),
    [`${name}.attention.head_count_kv`]: ['uint32', (value) => value === heads],
    [`${name}.attention.key_length`]: ['uint32', (value) => value === width / heads],
    [`${name}.attention.value_length`]: ['uint32', (value) => value === width / heads],
    [`${name}.rope.dimension_count`]: ['uint32', (value) => value === width / heads],
    [`${name}.rope.freq_base`]: ['float32', isFinitePositive],
    [`${name}.vocab_size`]: ['uint32', (value) => value === tokens.length],
  };
  checkKeys(model, required, optional);
  checkHeads(width, heads);
  checkVocabulary(width, tokens.length);
  checkKeys(projector, projectorRules(width, 1), { ...optionalProjectorRules, 'clip.gen.audio.model_variant': ['string'] });
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
