/** Texts -> speech: which voice, how much at once, sentence by sentence, and what the use of it came to. */
import { FairPlaces } from '../../../platform/fair-places.ts';
import type { MeteringApi } from '../../metering/index.ts';
import { mediaError } from '../errors.ts';
import type { MediaMetrics } from '../media-metrics.ts';
import { type MediaOwner, mediaFailure } from '../speech/speech-service.ts';
import { Resampler } from './resampler.ts';
import { sentencesOf } from './sentences.ts';
import { SPEECH_RATE } from './speech-encoder.ts';
import type { Voice } from './voice.ts';
import type { VoiceList } from './voice-list.ts';

export interface SpeakingCall {
  text: string;
  voice: Voice;
  speed: number;
  isBackground: boolean;
  owner: MediaOwner;
  signal: AbortSignal;
  announce(name: string, value: string): void;
}

interface SpeakingServiceOptions {
  voices: VoiceList;
  metering: MeteringApi;
  metrics: MediaMetrics;
  /** Sentences that are spoken at once. */
  nPlaces: number;
  nMostTexts: number;
}

const RETRY_MS = 5_000;

export class SpeakingService {
  readonly #options: SpeakingServiceOptions;
  readonly #places: FairPlaces;
  #nTexts = 0;

  constructor(options: SpeakingServiceOptions) {
    this.#options = options;
    this.#places = new FairPlaces(options.nPlaces, Math.max(1, Math.ceil(options.nPlaces / 2)));
  }

  /** Texts that are being read aloud. */
  get nUnderWay(): number {
    return this.#nTexts;
  }

  /**
   * Resolves when the first samples are there, so that what fails before is an answer with its status. The samples have SPEECH_RATE. Throws the
   * errors of the module, and those of quotas; reading the samples throws them, too.
   */
  async speak(call: SpeakingCall): Promise<AsyncGenerator<Int16Array>> {
    const sentences = sentencesOf(call.text, call.voice.language);
    if (sentences.length === 0)
      throw mediaError('invalid_request', 'The text has no letter and no digit to speak.', { param: 'text' });
    const samples = this.#whole(call, sentences);
    const first = await samples.next();
    return (async function* () {
      try {
        if (first.done !== true) yield first.value;
        yield* samples;
      } finally {
        await samples.return(undefined);
      }
    })();
  }

  async *#whole(call: SpeakingCall, sentences: readonly string[]): AsyncGenerator<Int16Array> {
    const { metering, metrics, nMostTexts } = this.#options;
    const { owner, voice, signal, announce, text } = call;
    const started = performance.now();
    try {
      if (this.#nTexts >= nMostTexts)
        throw mediaError('queue_full', 'Too many texts are being spoken.', { retryAfterMs: RETRY_MS });
      this.#nTexts++;
      try {
        const meter = await metering.begin(owner, {
          model: voice.engine,
          operation: 'speech',
          nPromptEstimate: 0,
          nMost: 0,
          isStreamed: false,
          hasNoTokens: true,
          announce,
        });
        let nSamples = 0;
        try {
          for await (const samples of this.#sentences(call, sentences)) {
            nSamples += samples.length;
            yield samples;
          }
        } finally {
          const characters = nSamples === 0 ? 0 : [...text].length;
          await meter.end({ nPromptTokens: 0, nCachedTokens: 0, nCompletionTokens: 0, characters });
        }
        metrics.done('speech', { audioSeconds: nSamples / SPEECH_RATE, wallSeconds: (performance.now() - started) / 1000 });
      } finally {
        this.#nTexts--;
      }
    } catch (error) {
      const failure = mediaFailure(error, signal);
      metrics.refused(failure.code);
      throw failure;
    }
  }

  async *#sentences(
    { voice, speed, isBackground, owner, signal }: SpeakingCall,
    sentences: readonly string[],
  ): AsyncGenerator<Int16Array> {
    const engine = this.#options.voices.engineOf(voice);
    const options = { speed, signal, tenant: owner.tenant, isBackground };
    let resampler: Resampler | undefined;
    for (const sentence of sentences) {
      const release = await this.#places.acquire(owner.tenant);
      for await (const { rate, samples } of ahead(engine.speak(voice, sentence, options), release)) {
        resampler ??= new Resampler(rate, SPEECH_RATE);
        yield resampler.push(samples);
      }
    }
    if (resampler !== undefined) yield resampler.end();
  }
}

/** Takes what comes as it comes, so that a slow reader keeps no place from others: a sentence is short. */
async function* ahead<T>(source: AsyncIterable<T>, onEnd: () => void): AsyncGenerator<T> {
  const waiting: T[] = [];
  let news = Promise.withResolvers<void>();
  const state: { isOver: boolean; failure?: unknown } = { isOver: false };
  const take = async () => {
    for await (const each of source) {
      waiting.push(each);
      news.resolve();
    }
  };
  void take()
    .catch((failure: unknown) => {
      state.failure = failure;
    })
    .finally(() => {
      state.isOver = true;
      onEnd();
      news.resolve();
    });
  for (;;) {
    const next = waiting.shift();
    if (next !== undefined) yield next;
    else if (state.isOver) break;
    else {
      await news.promise;
      news = Promise.withResolvers<void>();
    }
  }
  if (state.failure !== undefined) throw state.failure;
}
