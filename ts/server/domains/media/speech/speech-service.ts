/** Recordings -> text: which model, who may, how much at once, and what the use of it came to. */

import { NativeError } from '../../../native/native-error.ts';
import type { Recording, SpeechSegment, TranscriptionEvent, TranscriptionOptions } from '../../../native/whisper.ts';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import type { Principal } from '../../../platform/http/principal.ts';
import type { NameFilter, UseRules } from '../../../platform/module/use-rules.ts';
import type { MeteringApi } from '../../metering/index.ts';
import { type MediaErrorCode, mediaError, mediaErrors } from '../errors.ts';
import type { MediaMetrics } from '../media-metrics.ts';
import { readMediaFacts } from '../sound/media-facts.ts';
import { readSound, SOUND_RATE } from '../sound/sound-reader.ts';
import { ChannelSpeakers, marksTurns, oneChannel, TurnSpeakers } from './speakers.ts';
import type { ReservedModel, SpeechCard, SpeechModels } from './speech-models.ts';
import type { HeardSegment, Transcript } from './transcript.ts';

/** The account and key that work of the module is counted for. */
export interface MediaOwner {
  tenant: string;
  user: string | undefined;
  key: string | undefined;
}

export function ownerOf({ tenant, subject: user, kind, keyId }: Principal): MediaOwner {
  return { tenant, user, key: kind === 'key' ? keyId : undefined };
}

export interface SpeechCall extends Omit<TranscriptionOptions, 'tenant' | 'timeoutMs'> {
  /** Empty: the default model. */
  model: string;
  /** Models that the caller may use. */
  mayUse: NameFilter;
  owner: MediaOwner;
  tellsSpeakers?: boolean;
  /** Seconds at the beginning that are left out, since they were heard before; times count from the beginning all the same. */
  fromSeconds?: number;
  timeoutMs?: number | undefined;
  /** The client is gone, or the job is to end. */
  signal: AbortSignal;
  announce(name: string, value: string): void;
}

/** News of a recording that becomes text. */
export interface SpeechProgress {
  segments: HeardSegment[];
  doneSeconds: number;
  /** Empty until it is known. */
  language: string;
}

interface SpeechServiceOptions {
  models: SpeechModels;
  metering: MeteringApi;
  uses: UseRules;
  metrics: MediaMetrics;
  maxSeconds: number;
  mostOfTenant: number;
}

const RETRY_MS = 5_000;

const fromNative: Partial<Record<NativeError['code'], MediaErrorCode>> = {
  queue_full: 'queue_full',
  deadline_exceeded: 'deadline_exceeded',
  out_of_memory: 'out_of_memory',
  closed: 'client_closed',
};

export class SpeechService {
  readonly #options: SpeechServiceOptions;
  readonly #nOfTenant = new Map<string, number>();

  constructor(options: SpeechServiceOptions) {
    this.#options = options;
  }

  /** Recordings, those that wait included. */
  get nUnderWay(): number {
    return [...this.#nOfTenant.values()].reduce((sum, n) => sum + n, 0);
  }

  async models(caller: Principal): Promise<SpeechCard[]> {
    return this.#options.models.cards(await this.mayUse(caller));
  }

  mayUse(caller: Principal): NameFilter | Promise<NameFilter> {
    return this.#options.uses.of(caller, 'models');
  }

  /** The name of the model that a call would use. Throws no_speech_model and model_not_found. */
  async modelOf({ model, mayUse, announce }: Pick<SpeechCall, 'model' | 'mayUse' | 'announce'>): Promise<string> {
    const { file, isSubstitute } = await this.#options.models.choose(model, mayUse);
    if (isSubstitute) announce('x-svc-model-substituted', `${encodeURI(model)} -> ${encodeURI(file.id)}`);
    return file.id;
  }

  /**
   * Tells of segments as they are recognised. Throws the errors of the module, and those of quotas.
   * @param path of the stored recording
   */
  async transcribe(path: string, call: SpeechCall, onProgress: (progress: SpeechProgress) => void): Promise<Transcript> {
    const { models, metrics } = this.#options;
    const started = performance.now();
    try {
      const model = await this.modelOf(call);
      const { file } = await models.choose(model, call.mayUse);
      const transcript = await this.#metered(file.id, call, (onDone) =>
        this.#run(file, path, call, (progress) => {
          onDone(progress.doneSeconds);
          onProgress(progress);
        }),
      );
      const audioSeconds = Math.max(0, transcript.duration - (call.fromSeconds ?? 0));
      metrics.done('transcription', { audioSeconds, wallSeconds: (performance.now() - started) / 1000 });
      return transcript;
    } catch (error) {
      const failure = mediaFailure(error, call.signal);
      metrics.refused(failure.code);
      throw failure;
    }
  }

  /** Counts what was done, also of a recording that was not finished. */
  async #metered(
    model: string,
    { owner, announce, fromSeconds = 0 }: SpeechCall,
    work: (onDone: (seconds: number) => void) => Promise<Transcript>,
  ): Promise<Transcript> {
    const meter = await this.#options.metering.begin(owner, {
      model,
      operation: 'transcription',
      nPromptEstimate: 0,
      nMost: 0,
      isStreamed: false,
      hasNoTokens: true,
      announce,
    });
    let seconds = 0;
    try {
      const transcript = await work((done) => {
        seconds = done;
      });
      seconds = transcript.duration;
      return transcript;
    } finally {
      const audioMs = Math.round(Math.max(0, seconds - fromSeconds) * 1000);
      await meter.end({ nPromptTokens: 0, nCachedTokens: 0, nCompletionTokens: 0, audioMs });
    }
  }

  async #run(
    file: Parameters<SpeechModels['reserve']>[0],
    path: string,
    call: SpeechCall,
    onProgress: (progress: SpeechProgress) => void,
  ): Promise<Transcript> {
    const { tenant } = call.owner;
    const n = this.#nOfTenant.get(tenant) ?? 0;
    if (n >= this.#options.mostOfTenant)
      throw mediaError('queue_full', 'Too many recordings of this tenant are under way.', { retryAfterMs: RETRY_MS });
    this.#nOfTenant.set(tenant, n + 1);
    let reserved: ReservedModel | undefined;
    try {
      const byChannels = call.tellsSpeakers === true && !marksTurns(file.id);
      if (byChannels && (await readMediaFacts(path, call.signal)).nChannels !== 2) throw oneChannel();
      reserved = await this.#options.models.reserve(file);
      return await this.#listen(reserved, path, call, onProgress);
    } finally {
      reserved?.release();
      const left = (this.#nOfTenant.get(tenant) ?? 1) - 1;
      if (left > 0) this.#nOfTenant.set(tenant, left);
      else this.#nOfTenant.delete(tenant);
    }
  }

  async #listen(
    { id, model }: ReservedModel,
    path: string,
    { owner, signal, model: _model, mayUse: _mayUse, announce: _announce, tellsSpeakers, timeoutMs, ...given }: SpeechCall,
    onProgress: (progress: SpeechProgress) => void,
  ): Promise<Transcript> {
    const { fromSeconds = 0, ...options } = given;
    const tellsTurns = tellsSpeakers === true && marksTurns(id);
    const speakers = tellsSpeakers === true && !tellsTurns ? new ChannelSpeakers() : undefined;
    const turns = tellsTurns ? new TurnSpeakers() : undefined;
    const named = (segment: SpeechSegment): HeardSegment => {
      const { endsTurn, ...heard } = segment;
      const speaker = speakers?.speakerOf(heard.begin, heard.end) ?? turns?.speakerOf(endsTurn);
      return { ...later(heard, fromSeconds), ...(speaker !== undefined && { speaker }) };
    };
    const segments: HeardSegment[] = [];
    const last = Promise.withResolvers<TranscriptionEvent>();
    // The end of the model's work ends that of the decoder.
    const over = new AbortController();
    let wanted = Promise.withResolvers<void>();
    const onEvent = (event: TranscriptionEvent) => {
      const heard = event.segments.map(named);
      segments.push(...heard);
      const { language, doneSeconds } = event;
      // The end of one that failed says how far it was written, and not how far it was heard.
      if (event.error === undefined && (heard.length > 0 || doneSeconds > 0))
        onProgress({ segments: heard, doneSeconds: doneSeconds + fromSeconds, language });
      if (event.wantsSamples) wanted.resolve();
      if (!event.isLast) return;
      over.abort(event.error);
      wanted.resolve();
      last.resolve(event);
    };
    const recording: Recording = model.start(
      { ...options, tellsTurns, tenant: owner.tenant, ...(timeoutMs !== undefined && { timeoutMs }) },
      onEvent,
    );
    const cancel = () => recording.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const { maxSeconds } = this.#options;
      const reading = {
        maxSeconds,
        signal: AbortSignal.any([signal, over.signal]),
        nChannels: speakers === undefined ? 1 : 2,
      } as const;
      let nLeftOut = Math.round(fromSeconds * SOUND_RATE);
      for await (const read of readSound(path, reading)) {
        const samples = read.subarray(Math.min(nLeftOut, read.length));
        nLeftOut -= read.length - samples.length;
        if (samples.length === 0) continue;
        wanted = Promise.withResolvers<void>();
        if (!recording.write(speakers?.mix(samples) ?? samples)) await wanted.promise;
      }
      speakers?.requireTwo();
      recording.end();
      const { error, language, duration, speechSeconds } = await last.promise;
      if (error !== undefined) throw error;
      return { segments, model: id, language, duration: duration + fromSeconds, speechSeconds };
    } finally {
      signal.removeEventListener('abort', cancel);
      // Nothing happens to one that is over.
      recording.cancel();
    }
  }
}

function later(segment: HeardSegment, seconds: number): HeardSegment {
  if (seconds === 0) return segment;
  const moved = <T extends { begin: number; end: number }>(each: T): T => ({
    ...each,
    begin: each.begin + seconds,
    end: each.end + seconds,
  });
  return { ...moved(segment), words: segment.words.map(moved) };
}

/** Every failure as one of the module's own; those of quotas stay what they are. */
export function mediaFailure(error: unknown, signal: AbortSignal): DomainError {
  // AbortSignal.timeout() ends work with a reason of this name.
  const isLate = (signal.reason as Error | undefined)?.name === 'TimeoutError';
  if (signal.aborted && isLate) return mediaError('deadline_exceeded', mediaErrors.rows.deadline_exceeded[1], { cause: error });
  if (signal.aborted) return mediaError('client_closed', 'The client went away.', { cause: error });
  if (error instanceof DomainError) return error;
  if (error instanceof NativeError) {
    const code = fromNative[error.code];
    const retry = code === 'queue_full' ? { retryAfterMs: RETRY_MS } : {};
    if (code !== undefined) return mediaError(code, mediaErrors.rows[code][1], { ...retry, cause: error });
  }
  return mediaError('internal', 'The work failed; the log has the cause under this request id.', { cause: error });
}
