/** Recordings -> text: which model, who may, how much at once, and what the use of it came to. */

import { NativeError } from '../../native/native-error.ts';
import type { Recording, SpeechSegment, TranscriptionEvent, TranscriptionOptions } from '../../native/whisper.ts';
import { DomainError } from '../../platform/errors/domain-error.ts';
import type { Principal } from '../../platform/http/principal.ts';
import type { UseRules } from '../../platform/module/use-rules.ts';
import type { MeteringApi } from '../metering/index.ts';
import { type MediaErrorCode, mediaError, mediaErrors } from './errors.ts';
import type { MediaMetrics } from './media-metrics.ts';
import { readSound } from './sound/sound-reader.ts';
import type { ReservedModel, SpeechCard, SpeechModels } from './speech-models.ts';
import type { Transcript } from './transcript.ts';

interface SpeechCall extends Omit<TranscriptionOptions, 'tenant' | 'timeoutMs'> {
  /** Empty: the default model. */
  model: string;
  timeoutMs?: number | undefined;
  caller: Principal;
  /** The client is gone. */
  signal: AbortSignal;
  announce(name: string, value: string): void;
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

  async models(caller: Principal): Promise<SpeechCard[]> {
    const { models, uses } = this.#options;
    return models.cards(await uses.of(caller, 'models'));
  }

  /**
   * Tells of segments as they are recognised. Throws the errors of the module, and those of quotas.
   * @param path of the stored recording
   */
  async transcribe(path: string, call: SpeechCall, onSegments: (segments: SpeechSegment[]) => void): Promise<Transcript> {
    const { models, uses, metrics } = this.#options;
    const started = performance.now();
    try {
      const { file, isSubstitute } = await models.choose(call.model, await uses.of(call.caller, 'models'));
      if (isSubstitute) call.announce('x-svc-model-substituted', `${encodeURI(call.model)} -> ${encodeURI(file.id)}`);
      const transcript = await this.#metered(file.id, call, () => this.#run(file, path, call, onSegments));
      metrics.done(transcript.duration, (performance.now() - started) / 1000);
      return transcript;
    } catch (error) {
      const failure = speechFailure(error, call.signal);
      metrics.refused(failure.code);
      throw failure;
    }
  }

  async #metered<T>(model: string, { caller, announce }: SpeechCall, work: () => Promise<T>): Promise<T> {
    const { tenant, subject: user, kind, keyId } = caller;
    const key = kind === 'key' ? keyId : undefined;
    const meter = await this.#options.metering.begin(
      { tenant, user, key },
      { model, operation: 'transcription', nPromptEstimate: 0, nMost: 0, isStreamed: false, hasNoTokens: true, announce },
    );
    try {
      return await work();
    } finally {
      await meter.end({ nPromptTokens: 0, nCachedTokens: 0, nCompletionTokens: 0 });
    }
  }

  async #run(
    file: Parameters<SpeechModels['reserve']>[0],
    path: string,
    call: SpeechCall,
    onSegments: (segments: SpeechSegment[]) => void,
  ): Promise<Transcript> {
    const { tenant } = call.caller;
    const n = this.#nOfTenant.get(tenant) ?? 0;
    if (n >= this.#options.mostOfTenant)
      throw mediaError('queue_full', 'Too many recordings of this tenant are under way.', { retryAfterMs: RETRY_MS });
    this.#nOfTenant.set(tenant, n + 1);
    let reserved: ReservedModel | undefined;
    try {
      reserved = await this.#options.models.reserve(file);
      return await this.#listen(reserved, path, call, onSegments);
    } finally {
      reserved?.release();
      const left = (this.#nOfTenant.get(tenant) ?? 1) - 1;
      if (left > 0) this.#nOfTenant.set(tenant, left);
      else this.#nOfTenant.delete(tenant);
    }
  }

  async #listen(
    { model }: ReservedModel,
    path: string,
    { caller, signal, model: _model, announce: _announce, timeoutMs, ...options }: SpeechCall,
    onSegments: (segments: SpeechSegment[]) => void,
  ): Promise<Transcript> {
    const segments: SpeechSegment[] = [];
    const last = Promise.withResolvers<TranscriptionEvent>();
    // The end of the model's work ends that of the decoder.
    const over = new AbortController();
    let wanted = Promise.withResolvers<void>();
    const onEvent = (event: TranscriptionEvent) => {
      if (event.segments.length > 0) {
        segments.push(...event.segments);
        onSegments(event.segments);
      }
      if (event.wantsSamples) wanted.resolve();
      if (!event.isLast) return;
      over.abort(event.error);
      wanted.resolve();
      last.resolve(event);
    };
    const recording: Recording = model.start(
      { ...options, tenant: caller.tenant, ...(timeoutMs !== undefined && { timeoutMs }) },
      onEvent,
    );
    const cancel = () => recording.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const { maxSeconds } = this.#options;
      for await (const samples of readSound(path, { maxSeconds, signal: AbortSignal.any([signal, over.signal]) })) {
        wanted = Promise.withResolvers<void>();
        if (!recording.write(samples)) await wanted.promise;
      }
      recording.end();
      const { error, language, duration, speechSeconds } = await last.promise;
      if (error !== undefined) throw error;
      return { segments, language, duration, speechSeconds };
    } finally {
      signal.removeEventListener('abort', cancel);
      // Nothing happens to one that is over.
      recording.cancel();
    }
  }
}

/** Every failure as one of the module's own; those of quotas stay what they are. */
function speechFailure(error: unknown, signal: AbortSignal): DomainError {
  if (signal.aborted) return mediaError('client_closed', 'The client went away.', { cause: error });
  if (error instanceof DomainError) return error;
  if (error instanceof NativeError) {
    const code = fromNative[error.code];
    const retry = code === 'queue_full' ? { retryAfterMs: RETRY_MS } : {};
    if (code !== undefined) return mediaError(code, mediaErrors.rows[code][1], { ...retry, cause: error });
  }
  return mediaError('internal', 'The recording could not be transcribed; the log has the cause under this request id.', {
    cause: error,
  });
}
