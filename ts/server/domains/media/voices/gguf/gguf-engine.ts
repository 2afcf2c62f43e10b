/** Voices of GGUF files: a text model and its projector, in memory once for all voices that share them, for as long as somebody speaks with them. */
import { realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { LlamaModel, type LlamaSynthesizer, type SpeechEvent } from '../../../../native/llama.ts';
import { NativeError } from '../../../../native/native-error.ts';
import { DomainError } from '../../../../platform/errors/domain-error.ts';
import { mediaError } from '../../errors.ts';
import { readSound } from '../../sound/sound-reader.ts';
import { stretched, wholeOf } from '../time-stretch.ts';
import type { DescribedVoice, SpeakingOptions, SpokenPiece, Voice, VoiceEngine, VoiceFiles, VoiceMaking } from '../voice.ts';
import { readVoiceFiles, type VoiceFacts } from './voice-files.ts';

interface GgufEngineOptions {
  nMostTexts: number;
  /** 0: it stays. */
  idleUnloadMs: number;
}

/**
 * Looks at a model and its projector in a confined process, as at every model file: what is wrong with them, or the memory that they will take.
 * Whoever inspects models has it.
 */
export type InspectVoice = (model: string, projector: string) => Promise<{ reason: string } | { hostBytes: number }>;

interface Loaded {
  loading: Promise<{ model: LlamaModel; synthesizer: LlamaSynthesizer }>;
  isLoaded: boolean;
  nUsers: number;
  timer?: NodeJS.Timeout;
}

/** Names of files in the folder: never a path. */
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
const LEAST_SAMPLE_SECONDS = 0.1;
const MOST_SAMPLE_SECONDS = 30;
const DEFAULT_SEED = 1;

export class GgufEngine implements VoiceEngine {
  readonly name = 'gguf';
  readonly #options: GgufEngineOptions;
  readonly #facts = new Map<string, { stamp: string; facts: Promise<VoiceFacts> }>();
  readonly #samples = new Map<string, { stamp: string; samples: Promise<Float32Array> }>();
  readonly #loaded = new Map<string, Loaded>();
  #inspect: InspectVoice | undefined;

  constructor(options: GgufEngineOptions) {
    this.#options = options;
  }

  connect(inspect: InspectVoice): void {
    this.#inspect = inspect;
  }

  /** It has none but those that files describe. */
  async voices(): Promise<Voice[]> {
    return [];
  }

  async describe(folder: string, { language, model, mmproj, sample, seed = DEFAULT_SEED }: DescribedVoice): Promise<VoiceMaking> {
    if (mmproj === undefined) throw new Error('a voice of the engine gguf names its projector, too (mmproj)');
    const files: VoiceFiles = {
      model: await fileIn(folder, model),
      projector: await fileIn(folder, mmproj),
      seed,
      ...(sample !== undefined && { sample: await fileIn(folder, sample) }),
    };
    const { sampleRate, languages, license = 'unknown' } = await this.#factsOf(files);
    if (languages?.includes(codeOf(language)) === false)
      throw new Error(`its model speaks ${languages.join(', ')}, and not ${language}`);
    return { engine: this.name, model, sampleRate, license, files };
  }

  async *speak(voice: Voice, text: string, options: SpeakingOptions): AsyncGenerator<SpokenPiece> {
    const { files } = voice;
    if (files === undefined) throw new Error(`the voice ${voice.id} has no files`);
    const { synthesizer, release } = await this.#reserve(voice.id, files);
    try {
      const sample =
        files.sample === undefined ? undefined : await this.#sampleOf(voice.id, files.sample, synthesizer.sampleRate);
      const pieces = spoken(synthesizer, { voice, text, sample, seed: files.seed }, options);
      const rate = synthesizer.sampleRate;
      if (Math.abs(options.speed - 1) < 0.01) for await (const samples of pieces) yield { rate, samples };
      else yield { rate, samples: stretched(await wholeOf(pieces), 1 / options.speed, rate) };
    } finally {
      release();
    }
  }

  /** Voices in memory. */
  get nLoaded(): number {
    return this.#loaded.size;
  }

  async close(): Promise<void> {
    const all = [...this.#loaded.values()];
    this.#loaded.clear();
    for (const { timer } of all) clearTimeout(timer);
    await Promise.allSettled(all.map(async ({ loading }) => await unload(await loading)));
  }

  async #factsOf({ model, projector }: VoiceFiles): Promise<VoiceFacts> {
    const key = `${model}\0${projector}`;
    const stamp = `${await stampOf(model)} ${await stampOf(projector)}`;
    const known = this.#facts.get(key);
    if (known?.stamp === stamp) return await known.facts;
    const facts = readVoiceFiles(model, projector);
    facts.catch(() => undefined);
    this.#facts.set(key, { stamp, facts });
    return await facts;
  }

  async #sampleOf(id: string, path: string, rate: number): Promise<Float32Array> {
    const stamp = await stampOf(path);
    const known = this.#samples.get(path);
    if (known?.stamp === stamp) return await known.samples;
    const samples = readSample(path, rate).catch((cause: unknown) => {
      throw unusable(id, 'its sample cannot be heard', cause);
    });
    samples.catch(() => undefined);
    this.#samples.set(path, { stamp, samples });
    return await samples;
  }

  /** Loads the voice unless it is in memory. Throws voice_unusable and out_of_memory. */
  async #reserve(id: string, files: VoiceFiles): Promise<{ synthesizer: LlamaSynthesizer; release: () => void }> {
    // Files that changed are another voice; the one before ends with those who speak with it.
    const key = [files.model, await stampOf(files.model), files.projector, await stampOf(files.projector)].join('\0');
    const entry = this.#loaded.get(key) ?? this.#load(key, id, files);
    clearTimeout(entry.timer);
    entry.nUsers++;
    try {
      const { synthesizer } = await entry.loading;
      return { synthesizer, release: () => this.#release(key, entry) };
    } catch (error) {
      this.#release(key, entry);
      throw error;
    }
  }

  #load(key: string, id: string, files: VoiceFiles): Loaded {
    const entry: Loaded = { loading: this.#open(id, files), isLoaded: false, nUsers: 0 };
    this.#loaded.set(key, entry);
    entry.loading.then(
      () => {
        entry.isLoaded = true;
      },
      () => this.#forget(key, entry),
    );
    return entry;
  }

  async #open(id: string, files: VoiceFiles): Promise<{ model: LlamaModel; synthesizer: LlamaSynthesizer }> {
    try {
      await this.#factsOf(files);
      await this.#requireMemory(id, files);
      const model = await LlamaModel.load({ path: files.model, projectorPath: files.projector });
      try {
        return { model, synthesizer: await model.createSynthesizer({ maxQueuedJobs: this.#options.nMostTexts }) };
      } catch (error) {
        await model.close();
        throw error;
      }
    } catch (error) {
      if (error instanceof DomainError) throw error;
      if (error instanceof NativeError && error.code === 'out_of_memory') throw noMemory(id, error);
      throw unusable(id, 'its files cannot be loaded', error);
    }
  }

  async #requireMemory(id: string, { model, projector }: VoiceFiles): Promise<void> {
    const inspected = await this.#inspect?.(model, projector);
    if (inspected === undefined) return;
    if ('reason' in inspected) throw unusable(id, 'its model is refused', new Error(inspected.reason));
    if (inspected.hostBytes > process.availableMemory()) throw noMemory(id);
  }

  #release(key: string, entry: Loaded): void {
    entry.nUsers--;
    const { idleUnloadMs } = this.#options;
    if (entry.nUsers > 0 || !entry.isLoaded || idleUnloadMs === 0) return;
    entry.timer = setTimeout(() => {
      this.#forget(key, entry);
      void entry.loading.then(unload);
    }, idleUnloadMs).unref();
  }

  #forget(key: string, entry: Loaded): void {
    if (this.#loaded.get(key) === entry) this.#loaded.delete(key);
  }
}

interface Sentence {
  voice: Voice;
  text: string;
  sample: Float32Array | undefined;
  seed: number;
}

async function* spoken(
  synthesizer: LlamaSynthesizer,
  { voice, text, sample, seed }: Sentence,
  { signal, tenant, isBackground }: SpeakingOptions,
): AsyncGenerator<Int16Array> {
  const pieces: Int16Array[] = [];
  let last: SpeechEvent | undefined;
  let news = Promise.withResolvers<void>();
  const language = codeOf(voice.language);
  const options = { tenant, text, language, seed, isBackground, ...(sample !== undefined && { voice: sample }) };
  const cancel = synthesizer.start(options, (event) => {
    if (event.samples.length > 0) pieces.push(event.samples);
    if (event.isLast) last = event;
    news.resolve();
  });
  const wake = () => news.resolve();
  signal.addEventListener('abort', wake, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const piece = pieces.shift();
      if (piece !== undefined) yield piece;
      else if (last !== undefined) break;
      else {
        await news.promise;
        news = Promise.withResolvers();
      }
    }
    if (last.error !== undefined) throw last.error;
  } finally {
    signal.removeEventListener('abort', wake);
    // Nothing happens to one that is over.
    cancel();
  }
}

/** Models are told the language, and not the country. */
function codeOf(language: string): string {
  return (language.split('-')[0] ?? '').toLowerCase();
}

/** Throws an Error that says what is amiss: a name that is none, no file, or a link out of the folder. */
async function fileIn(folder: string, name: string): Promise<string> {
  if (!FILE_NAME.test(name)) throw new Error(`${JSON.stringify(name)} is no name of a file in the folder`);
  const root = await realpath(folder);
  const path = await realpath(join(root, name)).catch(() => {
    throw new Error(`there is no file ${name}`);
  });
  if (!path.startsWith(root + sep) || !(await stat(path)).isFile()) throw new Error(`${name} is no file of the folder`);
  return path;
}

async function stampOf(path: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(path);
  return `${ino}:${size}:${mtimeMs}`;
}

async function readSample(path: string, rate: number): Promise<Float32Array> {
  const { signal } = new AbortController();
  const pieces: Float32Array[] = [];
  for await (const piece of readSound(path, { maxSeconds: MOST_SAMPLE_SECONDS, rate, signal })) pieces.push(piece);
  const whole = new Float32Array(pieces.reduce((sum, { length }) => sum + length, 0));
  if (whole.length < LEAST_SAMPLE_SECONDS * rate) throw new Error('a tenth of a second is the least');
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

async function unload({ model, synthesizer }: { model: LlamaModel; synthesizer: LlamaSynthesizer }): Promise<void> {
  await synthesizer.close();
  await model.close();
}

function unusable(id: string, why: string, cause: unknown): Error {
  return mediaError('voice_unusable', `The voice ${id} cannot be used: ${why}.`, { cause });
}

function noMemory(id: string, cause?: unknown): Error {
  return mediaError('out_of_memory', `There is no memory for the voice ${id}.`, { cause });
}
