/**
 * The typed binding to native/whisper: speech models in memory, and recordings that become text.
 *
 * Lifetimes: close() is idempotent and explicit. A recording that nobody wants any more is cancelled, or it holds its place. Threads: all
 * methods return at once; events come on this thread, one window of a recording after the other.
 */
import { loadAddon, nativeFolder } from './load.ts';
import type { NativeError } from './native-error.ts';

interface SpeechModelOptions {
  /** A model file that was checked: the addon trusts its numbers. */
  path: string;
  /** The voice activity model, as models/silero-vad/convert.py writes it. */
  voicePath: string;
  /** Windows that are computed side by side; each state takes memory. */
  nStates: number;
  /** Threads of each. */
  nThreads: number;
  /** Recordings that may be under way at once; one more is refused with queue_full. */
  nMostJobs: number;
}

export interface TranscriptionOptions {
  tenant: string;
  /** The code of one of languages(); without it, the model finds out. */
  language?: string;
  /** Writes English, whatever is spoken. */
  translates?: boolean;
  /** Words that are likely, or a text in the style that is wanted. */
  prompt?: string;
  temperature?: number;
  hasWords?: boolean;
  /** Has a model that marks turns of speakers mark them. */
  tellsTurns?: boolean;
  /** Leaves out what is no speech; true by default. */
  skipsSilence?: boolean;
  /** Nobody waits for it: others' work goes first. */
  isBackground?: boolean;
  timeoutMs?: number;
}

interface SpeechWord {
  text: string;
  begin: number;
  end: number;
  probability: number;
}

/** Times are seconds from the recording's beginning; they never go back. */
export interface SpeechSegment {
  text: string;
  begin: number;
  end: number;
  avgLogprob: number;
  noSpeechProb: number;
  tokens: number[];
  /** The bytes of the tokens, which may be parts of letters; empty for those that are no text. */
  texts: Uint8Array[];
  /** The log probability of each token. */
  logprobs: number[];
  words: SpeechWord[];
  /** Another speaker is next: models that mark turns (tinydiarize) say so where they are asked to. */
  endsTurn: boolean;
}

export interface TranscriptionEvent {
  segments: SpeechSegment[];
  /** Seconds of the recording that became text. */
  doneSeconds: number;
  speechSeconds: number;
  /** Seconds that were written so far. */
  duration: number;
  /** Empty until it is known. */
  language: string;
  /** A write that returned false may go on. */
  wantsSamples: boolean;
  isLast: boolean;
  /** Why the recording did not become text; with the last event. */
  error?: NativeError;
}

export interface Recording {
  /** Samples of one channel, 16,000 a second, which are copied. False: more are to come after an event that wants them. */
  write(samples: Float32Array): boolean;
  end(): void;
  /** The last event comes all the same. */
  cancel(): void;
}

interface SpeechStats {
  nJobs: number;
  nWaiting: number;
  /** The longest time that a slice of a pass held the cores. */
  longestSliceMs: number;
}

interface RawTranscriber {
  start(options: TranscriptionOptions, onEvent: (event: TranscriptionEvent) => void): Recording;
  stats(): SpeechStats;
  isMultilingual(): boolean;
  close(): Promise<void>;
}

/** The functions that native/whisper/bindings/addon.cpp registers. */
interface WhisperAddon {
  loadModel(options: SpeechModelOptions): Promise<RawTranscriber>;
  languages(): { code: string; name: string }[];
  voiceProbabilities(path: string, samples: Float32Array): Float32Array;
}

/** The addon llama goes first: it loads the backends of ggml, of which there is one in the process. */
function addon(): WhisperAddon {
  nativeFolder();
  return loadAddon('whisper') as WhisperAddon;
}

export class SpeechModel {
  readonly isMultilingual: boolean;
  readonly #raw: RawTranscriber;

  private constructor(raw: RawTranscriber) {
    this.#raw = raw;
    this.isMultilingual = raw.isMultilingual();
  }

  /** Throws NativeError model_not_found, model_invalid or out_of_memory. */
  static async load(options: SpeechModelOptions): Promise<SpeechModel> {
    return new SpeechModel(await addon().loadModel(options));
  }

  /** Throws NativeError queue_full, closed or invalid_argument. */
  start(options: TranscriptionOptions, onEvent: (event: TranscriptionEvent) => void): Recording {
    return this.#raw.start(options, onEvent);
  }

  stats(): SpeechStats {
    return this.#raw.stats();
  }

  /** Recordings that are under way end with an error `closed`. */
  async close(): Promise<void> {
    await this.#raw.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The languages that whisper models know. */
export function languages(): { code: string; name: string }[] {
  return addon().languages();
}

/** The probability of speech in each frame of 512 samples. */
export function voiceProbabilities(voicePath: string, samples: Float32Array): Float32Array {
  return addon().voiceProbabilities(voicePath, samples);
}
