/** The speech models of the node: which there are, which is meant, and those in memory, which leave it when nobody uses them. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { AddonLoadError, CpuUnsupportedError } from '../../../native/load.ts';
import { NativeError } from '../../../native/native-error.ts';
import { SpeechModel } from '../../../native/whisper.ts';
import type { NameFilter } from '../../../platform/module/use-rules.ts';
import { mediaError } from '../errors.ts';

/** A file that was checked, as the library of models tells it. */
interface SpeechFile {
  id: string;
  path: string;
  sizeBytes: number;
  license?: string;
  /** Unix seconds. */
  createdAt: number;
}

export interface SpeechCard extends Omit<SpeechFile, 'path'> {
  state: 'loaded' | 'loading' | 'unloaded';
}

/** Whoever has the model files; main.ts connects it. */
export interface SpeechFiles {
  speechFiles(): Promise<SpeechFile[]>;
}

interface SpeechModelsOptions {
  defaultModel: string;
  nMostJobs: number;
  /** 0: a model stays in memory. */
  idleUnloadMs: number;
  installRoot: string;
}

interface Entry {
  loading: Promise<SpeechModel>;
  model?: SpeechModel;
  nUsers: number;
  timer?: NodeJS.Timeout;
}

/** A model in use. */
export interface ReservedModel {
  readonly id: string;
  readonly model: SpeechModel;
  /** Called once. */
  release(): void;
}

/** OpenAI's own models of this kind: they mean the default model here. */
const FOREIGN_NAME = /^(whisper-1|gpt-(4o-)?(mini-)?transcribe(-diarize)?(-\d{4}-\d{2}-\d{2})?)$/;
/** More cores than these gain a window little; another window then runs beside it. */
const CORES_OF_STATE = 8;

export class SpeechModels {
  readonly #options: SpeechModelsOptions;
  readonly #entries = new Map<string, Entry>();
  #files: SpeechFiles | undefined;

  constructor(options: SpeechModelsOptions) {
    this.#options = options;
  }

  connect(files: SpeechFiles): void {
    this.#files = files;
  }

  /** Those that may be used, by name. */
  async cards(mayUse: NameFilter): Promise<SpeechCard[]> {
    const files = await this.#permitted(mayUse);
    return files.map(({ path: _path, ...rest }) => ({ ...rest, state: this.#stateOf(rest.id) }));
  }

  /** Throws no_speech_model and model_not_found. */
  async choose(asked: string, mayUse: NameFilter): Promise<{ file: SpeechFile; isSubstitute: boolean }> {
    const files = await this.#permitted(mayUse);
    const named = files.find(({ id }) => id === asked);
    if (named !== undefined) return { file: named, isSubstitute: false };
    if (files.length === 0)
      throw mediaError('no_speech_model', 'No speech model is installed.', {
        remedy: 'Install one: `svc models pull whisper-base`.',
      });
    if (asked !== '' && !FOREIGN_NAME.test(asked))
      throw mediaError('model_not_found', `There is no speech model ${JSON.stringify(asked)} here.`, { param: 'model' });
    const { defaultModel } = this.#options;
    const [largest] = files.toSorted((a, b) => b.sizeBytes - a.sizeBytes);
    const file = files.find(({ id }) => id === defaultModel) ?? (largest as SpeechFile);
    return { file, isSubstitute: asked !== '' };
  }

  /** Loads the model unless it is in memory. Throws speech_model_unusable and out_of_memory. */
  async reserve({ id, path }: SpeechFile): Promise<ReservedModel> {
    const entry = this.#entries.get(id) ?? this.#load(id, path);
    clearTimeout(entry.timer);
    entry.nUsers++;
    try {
      const model = await entry.loading;
      return { id, model, release: () => this.#release(id, entry) };
    } catch (error) {
      this.#release(id, entry);
      throw loadFailure(id, error);
    }
  }

  /** Recordings that wait for a state of any model, and the longest time that one held the cores. */
  stats(): { nWaiting: number; longestSliceMs: number } {
    const all = [...this.#entries.values()].flatMap(({ model }) => (model === undefined ? [] : [model.stats()]));
    const nWaiting = all.reduce((sum, stats) => sum + stats.nWaiting, 0);
    return { nWaiting, longestSliceMs: Math.max(0, ...all.map((stats) => stats.longestSliceMs)) };
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    for (const { timer } of entries) clearTimeout(timer);
    await Promise.allSettled(entries.map(async ({ loading }) => (await loading).close()));
  }

  async #permitted(mayUse: NameFilter): Promise<SpeechFile[]> {
    const files = (await this.#files?.speechFiles()) ?? [];
    return files.filter(({ id }) => mayUse(id));
  }

  #stateOf(id: string): SpeechCard['state'] {
    const entry = this.#entries.get(id);
    if (entry === undefined) return 'unloaded';
    return entry.model === undefined ? 'loading' : 'loaded';
  }

  #load(id: string, path: string): Entry {
    const nCores = availableParallelism();
    const nStates = Math.max(1, Math.floor(nCores / CORES_OF_STATE));
    const { nMostJobs, installRoot } = this.#options;
    const voicePath = join(installRoot, 'models', 'silero-vad', 'silero-vad.dat');
    const nThreads = Math.max(1, Math.floor(nCores / nStates));
    const entry: Entry = { loading: SpeechModel.load({ path, voicePath, nStates, nThreads, nMostJobs }), nUsers: 0 };
    this.#entries.set(id, entry);
    entry.loading.then(
      (model) => {
        entry.model = model;
      },
      () => this.#forget(id, entry),
    );
    return entry;
  }

  #release(id: string, entry: Entry): void {
    entry.nUsers--;
    const { idleUnloadMs } = this.#options;
    if (entry.nUsers > 0 || entry.model === undefined || idleUnloadMs === 0) return;
    entry.timer = setTimeout(() => {
      this.#forget(id, entry);
      void entry.model?.close();
    }, idleUnloadMs).unref();
  }

  #forget(id: string, entry: Entry): void {
    if (this.#entries.get(id) === entry) this.#entries.delete(id);
  }
}

function loadFailure(id: string, error: unknown): Error {
  if (error instanceof CpuUnsupportedError || error instanceof AddonLoadError)
    return mediaError('speech_model_unusable', 'The native library for speech cannot be loaded; `svc doctor` has the reason.', {
      cause: error,
    });
  if (error instanceof NativeError && error.code === 'out_of_memory')
    return mediaError('out_of_memory', `There is no memory for the speech model ${id}.`, { cause: error });
  return mediaError('speech_model_unusable', `The speech model ${id} cannot be loaded.`, { cause: error });
}
