/** Reads the files of a voice of Qwen3-TTS. */
import { findString } from '../../../../platform/gguf/gguf-value.ts';
import {
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
  within,
} from './file-checks.ts';
import { N_DAC_BLOCKS, QWEN_CODES, type QwenSizes, qwenModelTensors, qwenProjectorTensors } from './qwen-tensors.ts';

const NAME = 'qwen3tts';
/** The library builds a graph of so many layers sixteen times over, and no larger one. */
const MOST_PREDICTOR_LAYERS = 5;
const DECODER_HEADS = 16;
/** Samples of a frame, after it is doubled twice. */
const DAC_STRIDE = 480;
/** The library's own names (tools/mtmd/mtmd-helper-gen.cpp). */
const LANGUAGES: Readonly<Record<string, string>> = {
  zh: 'chinese',
  en: 'english',
  de: 'german',
  it: 'italian',
  pt: 'portuguese',
  es: 'spanish',
  ja: 'japanese',
  ko: 'korean',
  fr: 'french',
  ru: 'russian',
};
const SPECIAL = [
  '<|codec_bos|>',
  '<|codec_eos_token|>',
  '<|codec_pad|>',
  '<|codec_think|>',
  '<|codec_think_bos|>',
  '<|codec_think_eos|>',
  '<|codec_language_english|>',
  '<tts_pad>',
  '<tts_text_bos>',
  '<tts_text_eod>',
];

/** Throws VoiceFault. Returns the codes of the languages that the vocabulary has. */
export function readQwen(model: HeldFile, projector: HeldFile, tokens: readonly string[]): readonly string[] {
  const tokenizer = ['model', 'pre'].map((key) => findString(model.metadata, `tokenizer.ggml.${key}`)).join();
  if (tokenizer !== 'gpt2,qwen2') throw new VoiceFault('its tokenizer is none of Qwen3-TTS');
  const names = new Set(tokens);
  const missing = SPECIAL.find((name) => !names.has(name));
  if (missing !== undefined) throw new VoiceFault(`its vocabulary has no ${missing}`);
  // The head's rows are the last of the vocabulary.
  if (tokens.indexOf('<|codec_0|>') !== tokens.length - QWEN_CODES)
    throw new VoiceFault('its codes are not at the end of its vocabulary');
  checkModelKeys(model, tokens.length);
  const width = numberOf(model, `${NAME}.embedding_length`);
  checkVocabulary(width, tokens.length);
  checkProjectorKeys(projector, width);
  checkProjectorTypes(projector, 'qwen3tts_spkenc', 'qwen3tts_gen');
  const sizes = qwenSizes(model, projector, width, tokens.length);
  checkSizes(sizes, tokens);
  checkTensors(model, qwenModelTensors(sizes));
  checkTensors(projector, qwenProjectorTensors(sizes));
  return Object.keys(LANGUAGES).filter((code) => names.has(`<|codec_language_${LANGUAGES[code]}|>`));
}

function checkModelKeys(model: HeldFile, nTokens: number): void {
  const required: KeyRules = {
    ...modelRules(NAME),
    [`${NAME}.attention.head_count_kv`]: ['uint32', within(1, 256)],
    [`${NAME}.attention.key_length`]: ['uint32', within(2, 1024)],
    [`${NAME}.attention.value_length`]: ['uint32', (value) => value === numberOf(model, `${NAME}.attention.key_length`)],
    [`${NAME}.attention.layer_norm_rms_epsilon`]: ['float32', isFinitePositive],
    [`${NAME}.rope.freq_base`]: ['float32', isFinitePositive],
    [`${NAME}.rope.dimension_sections`]: ['int32[]', within(0, 512)],
  };
  const optional: KeyRules = {
    ...tokenizerRules(nTokens),
    [`${NAME}.rope.dimension_count`]: ['uint32', (value) => value === numberOf(model, `${NAME}.attention.key_length`)],
    [`${NAME}.n_deepstack_layers`]: ['uint32', (value) => value === 0],
    [`${NAME}.vocab_size`]: ['uint32', (value) => value === nTokens],
  };
  checkKeys(model, required, optional);
  const sections = model.metadata.get(`${NAME}.rope.dimension_sections`);
  const parts = sections?.type === 'array' ? [...(sections.values ?? [])].map(Number) : [];
  const sum = parts.reduce((all, part) => all + part, 0);
  // Each place of a pair turns with one of the positions.
  if (parts.length !== 4 || parts[0] === 0 || 2 * sum !== numberOf(model, `${NAME}.attention.key_length`))
    throw new VoiceFault(`its ${NAME}.rope.dimension_sections are ${parts.join()}`);
}

function checkProjectorKeys(projector: HeldFile, width: number): void {
  const required: KeyRules = {
    ...projectorRules(width, 128),
    'clip.audio.block_count': ['uint32', (value) => value === 3],
    'clip.gen.audio.block_count': ['uint32', within(1, MOST_PREDICTOR_LAYERS)],
    'clip.gen.audio.attention.head_count_kv': ['uint32', within(1, 256)],
  };
  checkKeys(projector, required, optionalProjectorRules);
}

function qwenSizes(model: HeldFile, projector: HeldFile, width: number, vocabulary: number): QwenSizes {
  const own = (key: string) => numberOf(model, `${NAME}.${key}`);
  const generator = (key: string) => numberOf(projector, `clip.gen.audio.${key}`);
  const at = (name: string, index: number, least = 1) => dimensionOf(projector, `${name}.weight`, index, least, MOST_WIDTH);
  const wav = (name: string, index: number, least = 1) => at(`a.gen.wav.${name}`, index, least);
  const blocks = Array.from({ length: N_DAC_BLOCKS }, (_, index) => `dac.blk.${index}.conv`);
  return {
    width,
    vocabulary,
    layers: own('block_count'),
    feedForward: own('feed_forward_length'),
    heads: own('attention.head_count'),
    keyHeads: own('attention.head_count_kv'),
    headWidth: own('attention.key_length'),
    speaker: {
      channels: at('a.conv1d.0', 2, 8),
      squeezed: at('a.blk.1.se_conv1', 2),
      gathered: at('a.conv_out', 2),
      attention: at('a.asp_tdnn', 2),
    },
    predictor: {
      width: generator('embedding_length'),
      layers: generator('block_count'),
      feedForward: generator('feed_forward_length'),
      heads: generator('attention.head_count'),
      keyHeads: generator('attention.head_count_kv'),
      headWidth: at('a.gen.code.blk.0.attn_q_norm', 0, 2),
      vocabulary: at('a.gen.code.head', 1, 2),
      isProjected: projector.tensors.some(({ name }) => name === 'a.gen.code.proj_in.weight'),
    },
    decoder: {
      codeWidth: wav('quant.first.out_proj', 0),
      quantised: wav('quant.first.out_proj', 1),
      firstVocabulary: wav('quant.first.codebook', 1, 2),
      restVocabulary: wav('quant.rest.codebook', 1, 2),
      channels: wav('pre_conv', 2, 2),
      width: wav('tfm.in_proj', 1),
      attention: wav('tfm.blk.0.attn_q', 1),
      feedForward: wav('tfm.blk.0.ffn_gate', 1),
      hidden: wav('up.blk.0.pw1', 1),
      dac: [wav('dac.entry', 2, 2), ...blocks.map((block) => wav(block, 1, 2))],
      strides: blocks.map((block) => wav(block, 0, 2) / 2),
    },
  };
}

function checkSizes(
  { width, heads, keyHeads, headWidth, speaker, predictor, decoder }: QwenSizes,
  tokens: readonly string[],
): void {
  const isShared = (all: number, keys: number, each: number) => all % keys === 0 && each % 2 === 0;
  if (!isShared(heads, keyHeads, headWidth) || !isShared(predictor.heads, predictor.keyHeads, predictor.headWidth))
    throw new VoiceFault('its heads do not share their keys evenly');
  if (!predictor.isProjected && predictor.width !== width)
    throw new VoiceFault('its states do not fit into those of its predictor');
  if (speaker.channels % 8 !== 0) throw new VoiceFault(`its encoder of voices has ${speaker.channels} channels`);
  if (decoder.attention % (2 * DECODER_HEADS) !== 0) throw new VoiceFault(`its decoder has heads of ${decoder.attention} places`);
  if (decoder.strides.reduce((product, stride) => product * stride, 1) !== DAC_STRIDE || !decoder.strides.every(Number.isInteger))
    throw new VoiceFault(`its decoder has the strides ${decoder.strides.join()}`);
  const first = tokens.length - QWEN_CODES;
  let nCodes = 0;
  while (tokens[first + nCodes] === `<|codec_${nCodes}|>`) nCodes++;
  if (nCodes > decoder.firstVocabulary || predictor.vocabulary > decoder.restVocabulary)
    throw new VoiceFault('its codebooks have fewer rows than there are codes');
}
