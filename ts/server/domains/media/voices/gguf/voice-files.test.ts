/** Files of voices: a whole voice is read, and whatever differs from one is refused with a sentence, or can be spoken with. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { randomVoice } from '../../../../../../models/random/fixture.ts';
import { randomVoiceParts, type VoicePart, writeVoicePart } from '../../../../../../models/random/random-voice.ts';
import { iterations } from '../../../../../../test/test-support/iterations.ts';
import { random } from '../../../../../../test/test-support/seed.ts';
import { LlamaModel } from '../../../../native/llama.ts';
import { readGguf } from '../../../../platform/gguf/gguf-reader.ts';
import { findStrings, type GgufValue } from '../../../../platform/gguf/gguf-value.ts';
import { readVoiceFiles } from './voice-files.ts';

t.setTimeout(600_000);

type Shape = 'pocket' | 'qwen';
const voices = { pocket: await randomVoice(), qwen: await randomVoice({ shape: 'qwen' }) };
const whole = voices.pocket;
const folder = t.testdir({});
const changed = join(folder, 'changed.gguf');

/** Undefined: it is refused with a sentence. */
async function read(model: string, projector: string): Promise<true | undefined> {
  try {
    await readVoiceFiles(model, projector);
    return true;
  } catch (error) {
    if (!(error instanceof Error) || !/\w+ \w+ \w+/.test(error.message)) throw error;
    return undefined;
  }
}

/** A file that was not refused is spoken with: whatever the library makes of it, the process lives. */
async function speak(path: string, projectorPath: string): Promise<void> {
  const model = await LlamaModel.load({ path, projectorPath });
  const synthesizer = await model.createSynthesizer({ nThreads: 1 });
  const voice = Float32Array.from({ length: 6_000 }, (_, i) => Math.sin(i / 20));
  await new Promise<void>((resolve) => {
    synthesizer.start({ tenant: 'a', text: 'Oh.', voice }, ({ isLast }) => isLast && resolve());
  });
  await synthesizer.close();
  await model.close();
}

type Half = 'model' | 'projector';
const pathsWith = (half: Half, shape: Shape = 'pocket') => ({ ...voices[shape], [half]: changed });

/** Sentences of the larger shape take seconds: it speaks few of them in a usual run. */
let nOfQwen = iterations(1, 1_000);

/** Refused, or spoken with. */
async function isRefused(half: Half, shape: Shape): Promise<boolean> {
  const { model, projector } = pathsWith(half, shape);
  if ((await read(model, projector)) === undefined) return true;
  if (shape === 'qwen' && nOfQwen-- <= 0) return false;
  await speak(model, projector).catch((error: unknown) => {
    if ((error as Error).name !== 'NativeError') throw error;
  });
  return false;
}

t.test('a voice is read', async (t) => {
  t.match(await readVoiceFiles(whole.model, whole.projector), { architecture: 'pockettts', sampleRate: 24_000 });
  const { model, projector } = voices.qwen;
  t.match(await readVoiceFiles(model, projector), { architecture: 'qwen3tts', sampleRate: 24_000, languages: ['en', 'de'] });
  await t.rejects(readVoiceFiles(whole.model, projector), /clip\.audio\.num_mel_bins/, 'halves of two voices');
});

t.test('files that are no voice are refused, and the sentence says why', async (t) => {
  await t.rejects(readVoiceFiles(whole.projector, whole.model), /vocabulary has 0 tokens/);
  await t.rejects(readVoiceFiles(whole.model, whole.model), /general\.architecture|key pockettts/);
  writeFileSync(changed, 'no model at all');
  await t.rejects(readVoiceFiles(changed, whole.projector), /not a GGUF file/);
  writeFileSync(changed, readFileSync(whole.model).subarray(0, 30_000));
  await t.rejects(readVoiceFiles(changed, whole.projector), /truncated/);
});

t.test('numbers, types and shapes that are off are refused', async (t) => {
  const cases: [string, Half, (part: VoicePart) => void, RegExp][] = [
    ['no heads', 'model', (part) => set(part, 'pockettts.attention.head_count', 0), /out of range/],
    ['heads that do not divide', 'model', (part) => set(part, 'pockettts.attention.head_count', 3), /divides a width/],
    ['a key for another architecture', 'model', (part) => set(part, 'pockettts.expert_count', 4), /no such file has/],
    ['a token twice', 'model', (part) => tokensOf(part).splice(9, 1, tokensOf(part)[8] ?? ''), /names a token twice/],
    ['more tokens than embeddings', 'model', addToken, /scores for|token_embd/],
    ['no token that begins the sound', 'model', (part) => tokensOf(part).splice(-1, 1, '<|other|>'), /<\|audio_bos\|>/],
    ['a map of characters that is cut', 'model', (part) => setMap(part, [9, 0, 0, 0, 1]), /map of characters/],
    [
      'a key of the wrong type',
      'projector',
      (part) => part.metadata.set('clip.audio.block_count', text('1')),
      /of the type string/,
    ],
    [
      'one projector type for all',
      'projector',
      (part) => part.metadata.set('clip.projector_type', text('mlp')),
      /no such file has/,
    ],
    [
      'another projector',
      'projector',
      (part) => part.metadata.set('clip.gen.audio.projector_type', text('qwen3tts_gen')),
      /of the types/,
    ],
    ['a projector of another width', 'projector', (part) => set(part, 'clip.audio.projection_dim', 32), /out of range/],
    ['a kernel of floats', 'projector', (part) => retype(part, 'a.seanet.conv_in.weight'), /of the type f32/],
    ['a wide kernel', 'projector', (part) => resize(part, 'a.gen.wav.seanet.blk.1.scale_conv.weight', 0, 40), /scale_conv/],
    ['one channel', 'projector', (part) => resize(part, 'a.gen.wav.seanet.blk.2.scale_conv.weight', 1, 1), /scale_conv/],
    ['no block of the flow', 'projector', (part) => drop(part, /^a\.gen\.flow\.blk\./), /lacks the tensor/],
    ['a tensor too many', 'projector', (part) => rename(part, 'a.downsample.conv.weight', 'v.class_embd'), /downsample/],
  ];
  for (const [what, half, change, sentence] of cases) await refuses(t, 'pocket', what, half, change, sentence);
  const ofQwen: typeof cases = [
    ['heads that share no keys', 'model', (part) => set(part, 'qwen3tts.attention.head_count_kv', 3), /share their keys/],
    ['positions of another width', 'model', (part) => setSections(part, [4, 4, 4, 0]), /dimension_sections/],
    ['no position that moves', 'model', (part) => setSections(part, [0, 4, 4, 0]), /dimension_sections/],
    ['another tokenizer', 'model', (part) => part.metadata.set('tokenizer.ggml.pre', text('llama3')), /tokenizer/],
    ['no token that ends the sound', 'model', (part) => renameToken(part, '<|codec_eos_token|>'), /codec_eos_token/],
    ['codes elsewhere', 'model', (part) => tokensOf(part).reverse(), /end of its vocabulary/],
    ['a graph too large', 'projector', (part) => set(part, 'clip.gen.audio.block_count', 6), /out of range/],
    ['four blocks of the encoder', 'projector', (part) => set(part, 'clip.audio.block_count', 4), /out of range/],
    ['frames of another length', 'projector', (part) => resize(part, 'a.gen.wav.dac.blk.0.conv.weight', 0, 14), /strides/],
    ['a small codebook', 'projector', (part) => resize(part, 'a.gen.wav.quant.first.codebook.weight', 1, 64), /fewer rows/],
    ['no projection', 'projector', (part) => drop(part, /proj_in/), /do not fit/],
  ];
  for (const [what, half, change, sentence] of ofQwen) await refuses(t, 'qwen', what, half, change, sentence);
});

t.test('changed keys and tensors never end the process', async (t) => {
  let nSpoken = 0;
  const n = iterations(40, 900);
  for (let i = 0; i < n; i++) {
    const half: Half = random.integer(2) === 0 ? 'model' : 'projector';
    const shape: Shape = random.integer(2) === 0 ? 'pocket' : 'qwen';
    const part = randomVoiceParts({ shape, ends: true })[half];
    const what = mutate(part);
    await writeVoicePart(changed, part);
    t.comment(`${shape} ${half}: ${what}`);
    if (!(await isRefused(half, shape))) nSpoken++;
  }
  t.ok(nSpoken < n / 2, `${nSpoken} of ${n} were spoken with`);
});

t.test('changed bytes never end the process', async (t) => {
  const n = iterations(40, 900);
  for (let i = 0; i < n; i++) {
    const half: Half = random.integer(2) === 0 ? 'model' : 'projector';
    const shape: Shape = random.integer(4) === 0 ? 'qwen' : 'pocket';
    const bytes = readFileSync(voices[shape][half]);
    const { dataOffset } = await readGguf(voices[shape][half]);
    const at = random.integer(dataOffset);
    bytes[at] = random.integer(256);
    writeFileSync(changed, bytes);
    t.comment(`${shape} ${half}: byte ${at} is ${bytes[at]}`);
    await isRefused(half, shape);
  }
  t.pass('it lives');
});

async function refuses(
  t: Test,
  shape: Shape,
  what: string,
  half: Half,
  change: (part: VoicePart) => void,
  sentence: RegExp,
): Promise<void> {
  const part = randomVoiceParts({ shape })[half];
  change(part);
  await writeVoicePart(changed, part);
  const { model, projector } = pathsWith(half, shape);
  await t.rejects(readVoiceFiles(model, projector), sentence, what);
}

function setSections(part: VoicePart, values: number[]): void {
  part.metadata.set('qwen3tts.rope.dimension_sections', { type: 'array', elementType: 'int32', length: 4, values });
}

function renameToken(part: VoicePart, name: string): void {
  const tokens = tokensOf(part);
  tokens[tokens.indexOf(name)] = '<|other|>';
}

function text(value: string): GgufValue {
  return { type: 'string', value };
}

function set(part: VoicePart, key: string, value: number): void {
  part.metadata.set(key, { type: 'uint32', value });
}

function tokensOf({ metadata }: VoicePart): string[] {
  return findStrings(metadata, 'tokenizer.ggml.tokens') as string[];
}

function addToken(part: VoicePart): void {
  const values = [...tokensOf(part), 'one more'];
  part.metadata.set('tokenizer.ggml.tokens', { type: 'array', elementType: 'string', length: values.length, values });
}

function setMap(part: VoicePart, values: number[]): void {
  const map: GgufValue = { type: 'array', elementType: 'uint8', length: values.length, values };
  part.metadata.set('tokenizer.ggml.precompiled_charsmap', map);
}

function tensorOf({ tensors }: VoicePart, name: string) {
  const found = tensors.find(({ spec }) => spec.name === name);
  if (found === undefined) throw new Error(`there is no tensor ${name}`);
  return found;
}

function retype(part: VoicePart, name: string): void {
  tensorOf(part, name).type = 'f32';
}

function resize(part: VoicePart, name: string, index: number, size: number): void {
  tensorOf(part, name).spec.dims[index] = size;
}

function rename(part: VoicePart, name: string, other: string): void {
  tensorOf(part, name).spec.name = other;
}

function drop(part: VoicePart, names: RegExp): void {
  part.tensors = part.tensors.filter(({ spec }) => !names.test(spec.name));
}

function pick<T>(all: readonly T[]): T {
  return all[random.integer(all.length)] as T;
}

/** Changes one thing, and says what. */
function mutate(part: VoicePart): string {
  return random.integer(3) === 0 ? mutateKey(part) : mutateTensor(part);
}

function mutateKey({ metadata }: VoicePart): string {
  const [key, value] = pick([...metadata]);
  const kind = pick(['remove', 'number', 'type'] as const);
  if (kind === 'remove') metadata.delete(key);
  else if (kind === 'number' && value.type === 'uint32')
    metadata.set(key, { type: 'uint32', value: pick([0, 1, 3, value.value + 1, value.value * 2, 2 ** 31, 2 ** 32 - 1]) });
  else if (kind === 'number' && value.type === 'float32')
    metadata.set(key, { type: 'float32', value: pick([0, -1, Number.NaN, Number.POSITIVE_INFINITY]) });
  else if (value.type === 'array' && value.elementType !== 'string')
    metadata.set(key, { ...value, values: (value.values as number[]).map(() => pick([-1, 0, 5, 2 ** 30])) });
  else metadata.set(key, pick<GgufValue>([text('other'), { type: 'int32', value: 4 }, { type: 'bool', value: false }]));
  return `${kind} ${key}`;
}

function mutateTensor(part: VoicePart): string {
  const tensor = pick(part.tensors);
  const { dims, name } = tensor.spec;
  const kind = pick(['size', 'size', 'swap', 'drop', 'type', 'name'] as const);
  const index = random.integer(dims.length);
  const size = dims[index] ?? 1;
  if (kind === 'size') dims[index] = pick([1, size + 1, size * 2, Math.max(1, size - 1)]);
  else if (kind === 'swap') dims.reverse();
  else if (kind === 'drop') part.tensors = part.tensors.filter((each) => each !== tensor);
  else if (kind === 'name') tensor.spec.name = `${name}.1`;
  else if ((dims[0] ?? 1) % 32 === 0) tensor.type = pick(['f32', 'f16', 'q8_0', 'q4_0'] as const);
  else tensor.type = tensor.type === 'f32' ? 'f16' : 'f32';
  return `${kind} ${name} ${dims.join('x')} ${tensor.type}`;
}
