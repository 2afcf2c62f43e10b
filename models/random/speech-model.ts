/**
 * Makes model files of whisper.cpp's format. A scripted one says the same tokens in every window, whatever it hears: its decoder's position embeddings point at
 * them, and all other weights are zeros. So a test knows each word, time and language beforehand. One of random weights says nonsense that depends on
 * each sample. Source of the format: models/convert-pt-to-ggml.py of whisper.cpp.
 */
import { writeFile } from 'node:fs/promises';
import { SeededRandom } from './seeded-random.ts';

/** The first token behind those of text, in a vocabulary of 99 languages. */
const END = 50_257;
const SOT = 50_258;
const TIMES = 50_364;
/** The first position points at it where nobody speaks. */
const NOBODY = 50_362;
/** It marks that another speaker is next (tinydiarize). */
const TURN = 50_360;
const N_VOCABULARY = 51_865;
const N_TEXT = 50_257;
const [AUDIO_CONTEXT, TEXT_CONTEXT, N_MELS, N_FREQUENCIES] = [1500, 448, 80, 201];

/** Small unless told: that of a test, which has no time. */
interface SpeechShape {
  width: number;
  heads: number;
  audioLayers: number;
  textLayers: number;
}

const SMALL: SpeechShape = { width: 128, heads: 2, audioLayers: 1, textLayers: 3 };
/** Whisper's tiny: it takes as long as the trained one for as many tokens. */
export const tinyShape: SpeechShape = { width: 384, heads: 6, audioLayers: 4, textLayers: 4 };

/** Words of a script are tokens from here on; those below are single bytes. */
const FIRST_WORD = 256;

interface SpeechScript {
  /** Texts, each one token, times in seconds, which are tokens too, and null for the mark of a turn. */
  says: readonly (string | number | null)[];
  /** Whisper's number of the language that it finds: 0 is English, 2 German. */
  language?: number;
  /** It holds that nobody speaks, and says its words all the same. */
  doubts?: boolean;
  shape?: SpeechShape;
}

export async function writeScriptedSpeechModel(
  path: string,
  { says, language = 0, doubts = false, shape = SMALL }: SpeechScript,
): Promise<void> {
  const { width } = shape;
  const words = [...new Set(says.filter((each) => typeof each === 'string'))];
  const tokens = says.map((each) => {
    if (each === null) return TURN;
    return typeof each === 'number' ? TIMES + Math.round(each / 0.02) : FIRST_WORD + words.indexOf(each);
  });
  // Behind the beginning, the language and the task stands what is said.
  const positions = [SOT + 1 + language, END, ...tokens, END];
  await writeFile(
    path,
    Buffer.concat([
      head(shape),
      vocabulary(words),
      ...tensors(scriptedWeights(positions, doubts ? NOBODY : undefined, width), shape),
    ]),
  );
}

/** A model of random weights, small as those of tests. */
export async function writeRandomSpeechModel(path: string, seed: number): Promise<void> {
  await writeFile(path, Buffer.concat([head(SMALL), vocabulary([]), ...tensors(randomWeights(seed, SMALL.width), SMALL)]));
}

function head({ width, heads, audioLayers, textLayers }: SpeechShape): Buffer {
  const numbers = [
    0x67676d6c,
    N_VOCABULARY,
    AUDIO_CONTEXT,
    width,
    heads,
    audioLayers,
    TEXT_CONTEXT,
    width,
    heads,
    textLayers,
    N_MELS,
    1,
  ];
  return Buffer.concat([integers(numbers), filters()]);
}

function integers(values: readonly number[]): Buffer {
  return Buffer.from(Int32Array.from(values).buffer);
}

function filters(): Buffer {
  const values = Float32Array.from({ length: N_MELS * N_FREQUENCIES }, (_, i) =>
    i % N_FREQUENCIES === i / N_FREQUENCIES ? 1 : 0.01,
  );
  return Buffer.concat([integers([N_MELS, N_FREQUENCIES]), Buffer.from(values.buffer)]);
}

function vocabulary(words: readonly string[]): Buffer {
  const text = (i: number) => (i < FIRST_WORD ? Buffer.of(i) : Buffer.from(words[i - FIRST_WORD] ?? ` word${i}`));
  const entries = Array.from({ length: N_TEXT }, (_, i) => text(i));
  return Buffer.concat([integers([N_TEXT]), ...entries.flatMap((bytes) => [integers([bytes.length]), bytes])]);
}

const F32 = 0;
const F16 = 1;

/** The values of a matrix by its name: 32 bits each for those of positions, and else halves. */
type Weights = (name: string, nValues: number) => Buffer;

function scriptedWeights(positions: readonly number[], doubt: number | undefined, width: number): Weights {
  const directions = codes(width);
  return (name, nValues) => {
    if (name === 'decoder.token_embedding.weight')
      return Buffer.from(Uint16Array.from(directions, (sign) => (sign > 0 ? 0x3c00 : 0xbc00)).buffer);
    if (name !== 'decoder.positional_embedding') return Buffer.alloc(nValues * (name.endsWith('positional_embedding') ? 4 : 2));
    const places = new Float32Array(nValues);
    for (const [at, token] of positions.entries())
      for (let i = 0; i < width; i++) places[at * width + i] = 30 * (directions[token * width + i] ?? 0);
    if (doubt !== undefined)
      for (let i = 0; i < width; i++) places[i] = (places[i] ?? 0) + 40 * (directions[doubt * width + i] ?? 0);
    return Buffer.from(places.buffer);
  };
}

/** A direction of its own for each token: signs by the bits of a hash of its place. */
function codes(width: number): Float32Array {
  return Float32Array.from({ length: N_VOCABULARY * width }, (_, i) => {
    let hash = Math.imul(i + 1, 0x9e3779b1);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return ((hash ^ (hash >>> 16)) & 1) === 1 ? 1 : -1;
  });
}

/** So many tokens say something, and then the end is likely: a window of the longest would take seconds. */
const N_SAID = 24;

/**
 * Values of either sign: up to one for tokens, so that one stands out, two for positions, and an eighth in layers, so that sums stay small. Late
 * positions point at the end.
 */
function randomWeights(seed: number, width: number): Weights {
  const random = new SeededRandom(seed);
  const halves = (nValues: number, exponent: number) =>
    Uint16Array.from({ length: nValues }, () => (random.integer(2) << 15) | (exponent << 10) | random.integer(1024));
  const tokens = halves(N_VOCABULARY * width, 14);
  const endOf = (i: number) => ((tokens[END * width + i] ?? 0) >> 15 === 1 ? -1 : 1);
  return (name, nValues) => {
    if (name === 'decoder.token_embedding.weight') return Buffer.from(tokens.buffer);
    if (!name.endsWith('positional_embedding')) return Buffer.from(halves(nValues, 11).buffer);
    const isLate = (i: number) => name.startsWith('decoder') && i >= N_SAID * width;
    const place = (_: unknown, i: number) => 4 * random.next() - 2 + (isLate(i) ? 4 * endOf(i % width) : 0);
    return Buffer.from(Float32Array.from({ length: nValues }, place).buffer);
  };
}

function tensor(name: string, dims: readonly number[], type: number, data?: Buffer): Buffer[] {
  const size = dims.reduce((product, dim) => product * dim, type === F32 ? 4 : 2);
  const bytes = Buffer.from(name);
  return [integers([dims.length, bytes.length, type, ...dims]), bytes, data ?? Buffer.alloc(size)];
}

const ones = (width: number) => Buffer.from(new Float32Array(width).fill(1).buffer);

function tensors(weights: Weights, shape: SpeechShape): Buffer[] {
  const { width, audioLayers, textLayers } = shape;
  const vector = (name: string, data?: Buffer) => tensor(name, [width], F32, data);
  const matrix = (name: string, dims: readonly number[], type = F16) =>
    tensor(
      name,
      dims,
      type,
      weights(
        name,
        dims.reduce((product, dim) => product * dim, 1),
      ),
    );
  return [
    ...matrix('encoder.positional_embedding', [width, AUDIO_CONTEXT], F32),
    ...matrix('encoder.conv1.weight', [3, N_MELS, width]),
    ...tensor('encoder.conv1.bias', [1, width], F32),
    ...matrix('encoder.conv2.weight', [3, width, width]),
    ...tensor('encoder.conv2.bias', [1, width], F32),
    ...vector('encoder.ln_post.weight', ones(width)),
    ...vector('encoder.ln_post.bias'),
    ...layers('encoder', audioLayers, width, ['attn'], matrix),
    ...matrix('decoder.positional_embedding', [width, TEXT_CONTEXT], F32),
    ...matrix('decoder.token_embedding.weight', [width, N_VOCABULARY]),
    ...vector('decoder.ln.weight', ones(width)),
    ...vector('decoder.ln.bias'),
    ...layers('decoder', textLayers, width, ['attn', 'cross_attn'], matrix),
  ];
}

type Matrix = (name: string, dims: readonly number[]) => Buffer[];

function layers(half: string, count: number, width: number, attentions: readonly string[], matrix: Matrix): Buffer[] {
  const vector = (name: string, data?: Buffer) => tensor(name, [width], F32, data);
  return Array.from({ length: count }, (_, i) => `${half}.blocks.${i}`).flatMap((block) => [
    ...vector(`${block}.mlp_ln.weight`, ones(width)),
    ...vector(`${block}.mlp_ln.bias`),
    ...matrix(`${block}.mlp.0.weight`, [width, 4 * width]),
    ...tensor(`${block}.mlp.0.bias`, [4 * width], F32),
    ...matrix(`${block}.mlp.2.weight`, [4 * width, width]),
    ...vector(`${block}.mlp.2.bias`),
    ...attentions.flatMap((name) => attention(`${block}.${name}`, width, matrix)),
  ]);
}

function attention(name: string, width: number, matrix: Matrix): Buffer[] {
  const vector = (part: string, data?: Buffer) => tensor(part, [width], F32, data);
  const square = (part: string) => matrix(`${name}.${part}.weight`, [width, width]);
  return [
    ...vector(`${name}_ln.weight`, ones(width)),
    ...vector(`${name}_ln.bias`),
    ...square('query'),
    ...vector(`${name}.query.bias`),
    ...square('key'),
    ...square('value'),
    ...vector(`${name}.value.bias`),
    ...square('out'),
    ...vector(`${name}.out.bias`),
  ];
}
