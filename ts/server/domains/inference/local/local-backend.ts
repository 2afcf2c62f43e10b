/** The engine of this process as an InferenceBackend. */
import type { EmbedResult, GenerationJob, RankResult, Text } from '../../../native/llama-shapes.ts';
import type { NativeError } from '../../../native/native-error.ts';
import type {
  BackendCompletion,
  CallOptions,
  ChatPrompt,
  CompletionRequest,
  CompletionSink,
  InferenceBackend,
  ModelCard,
  ModelControl,
  ModelDetail,
  TokenizeFlags,
} from '../backend.ts';
import { type InferenceError, inferenceError } from '../errors.ts';
import { inferenceFailure } from '../failure.ts';
import { hashFile } from '../library/files/hash-file.ts';
import { MediaDecoder } from '../media/media-decoder.ts';
import type { ModelSource, StoredModel } from '../models/model-source.ts';
import { estimateJobTokens, estimatePromptTokens, estimateTextTokens, promptBytes, textBytes } from '../usage/prompt-estimate.ts';
import type { InspectionResult } from './inspection/inspection-result.ts';
import type { Inspector } from './inspection/inspector.ts';
import { localJob, refuseByBytes, Staging, timeLeft } from './local-job.ts';
import type { LocalOptions } from './local-options.ts';
import { type MemoryUse, totalBytes } from './memory-use.ts';
import { type FoundModel, ModelCatalogue } from './model-catalogue.ts';
import { type ContextKind, defaultContext, type ModelReservation, memoryOf, predictedMemory } from './model-entry.ts';
import { type LoadedModel, ModelOpener } from './model-opener.ts';
import { ModelRegistry, silentObserver } from './model-registry.ts';
import type { NativeBinding, NativeEmbedder } from './native-binding.ts';
import { TokenizerQueue } from './tokenizer-queue.ts';

/** The most pixels of an image for projectors whose file says nothing. */
const defaultImagePixels = 4_000_000;

export class LocalBackend implements InferenceBackend, ModelControl {
  readonly #binding: NativeBinding;
  readonly #options: LocalOptions;
  readonly #registry: ModelRegistry;
  readonly #catalogue: ModelCatalogue;
  readonly #opener: ModelOpener;
  readonly #staging: Staging;
  readonly #media: MediaDecoder;
  readonly #tokenizing = new TokenizerQueue();
  #unavailableReason: InferenceError | undefined;

  constructor(binding: NativeBinding, source: ModelSource, inspector: Inspector, options: LocalOptions) {
    this.#binding = binding;
    this.#options = options;
    this.#staging = new Staging(binding);
    this.#media = options.media ?? new MediaDecoder();
    this.#registry = new ModelRegistry(
      (model, onProgress, signal) => this.#opener.open(model, onProgress, signal),
      options.limits,
      options.pinned,
      { ...silentObserver, ...options.observer, failed: (id, fault) => this.#failed(id, fault) },
    );
    this.#opener = new ModelOpener(binding, options, (id) => this.#catalogue.find(id));
    const planOf = (stored: StoredModel) => this.#opener.inspectionPlan(stored);
    this.#catalogue = new ModelCatalogue(
      source,
      inspector,
      this.#registry,
      () => !this.#unavailableReason,
      planOf,
      options.announce,
      options.probed,
    );
  }

  /** Loads the addon. Called again after close(). */
  open(): void {
    this.#unavailableReason = findUnavailableReason(this.#binding);
    this.#media.open();
    this.#registry.open();
  }

  unavailableReason(): InferenceError | undefined {
    return this.#unavailableReason;
  }

  models(asked?: string): Promise<ModelCard[]> {
    return this.#catalogue.cards(asked);
  }

  async complete(
    card: ModelCard,
    request: CompletionRequest,
    sink: CompletionSink,
    options: CallOptions,
  ): Promise<BackendCompletion> {
    const startedAt = performance.now();
    const found = this.#catalogue.get(card);
    const reservation = await this.#acquire(found, 'engine', options, estimateJobTokens(request.job));
    try {
      const engine = await reservation.model.engine();
      options.signal.throwIfAborted();
      refuseByBytes(request.job.prompt, engine.limits.nCtxPerJob);
      const staged = await this.#staging.job(await this.#decoded(found, reservation.model, request, options));
      options.signal.throwIfAborted();
      const job = localJob(staged, reservation.model.adapters, options, performance.now() - startedAt);
      const jobId = engine.submit(job, sink);
      return {
        cancel: () => engine.cancel(jobId),
        pause: () => engine.pause(jobId),
        resume: () => engine.resume(jobId),
        release: () => reservation.release(),
      };
    } catch (error) {
      reservation.release();
      throw reservation.model.fault ?? error;
    }
  }

  embed(card: ModelCard, inputs: (Text | Int32Array)[], options: CallOptions): Promise<EmbedResult> {
    return this.#useEmbedder(card, options, estimateTextTokens(inputs), async (embedder, left) =>
      embedder.embed(await this.#staging.texts(inputs), left),
    );
  }

  rank(card: ModelCard, query: Text, documents: Text[], options: CallOptions): Promise<RankResult> {
    return this.#useEmbedder(card, options, estimateTextTokens([query, ...documents]), async (embedder, left) =>
      embedder.rank(await this.#staging.text(query), await this.#staging.texts(documents), left),
    );
  }

  contextTokens(card: ModelCard, options: CallOptions): Promise<number> {
    return this.#use(card, 'engine', options, 0, async (model) => (await model.engine()).limits.nCtxPerJob);
  }

  countTokens(card: ModelCard, prompt: ChatPrompt, options: CallOptions): Promise<number> {
    return this.#use(card, undefined, options, estimatePromptTokens(prompt), (model) =>
      this.#tokenizing.run(options.tenant, promptBytes(prompt), options.signal, async () =>
        model.native.countTokens(await this.#staging.prompt(prompt)),
      ),
    );
  }

  tokenize(card: ModelCard, text: Text, flags: TokenizeFlags, options: CallOptions): Promise<Int32Array> {
    return this.#use(card, undefined, options, estimateTextTokens([text]), (model) =>
      this.#tokenizing.run(options.tenant, textBytes(text), options.signal, async () =>
        model.native.tokenize(await this.#staging.text(text), flags),
      ),
    );
  }

  detokenize(card: ModelCard, tokens: Int32Array, options: CallOptions): Promise<string> {
    return this.#use(card, undefined, options, tokens.length, (model) =>
      this.#tokenizing.run(options.tenant, tokens.byteLength, options.signal, () =>
        model.native.detokenize(tokens, { special: true }),
      ),
    );
  }

  async contentHash(card: ModelCard, signal: AbortSignal): Promise<string> {
    const { stored } = this.#catalogue.get(card);
    return stored.sha256 ?? (await this.#options.probed?.hashOf(stored, signal)) ?? (await hashFile(stored.path, { signal }));
  }

  async detail(id: string): Promise<ModelDetail | undefined> {
    const found = await this.#catalogue.find(id);
    if (!found) return undefined;
    const entry = this.#registry.entry(id);
    const { card, stored, plan } = found;
    const detail = {
      card,
      nJobs: entry?.nReservations ?? 0,
      pinned: this.#registry.isPinned(id),
      ...(plan ? { predictedBytes: totalBytes(predictedMemory(found, entry?.contexts ?? defaultContexts(stored))) } : {}),
    };
    if (!entry) return detail;
    const { model, progress, lastUsedAt, state } = entry;
    return {
      ...detail,
      lastUsedAt,
      ...(state === 'loading' ? { loadProgress: progress } : {}),
      ...(model ? loadedFacts(model, memoryOf(entry)) : {}),
    };
  }

  /** Returns the state of a model that is in memory without a look at the disk: probes ask often. Undefined when there is no such model. */
  async state(id: string): Promise<ModelCard['state'] | undefined> {
    return this.#registry.entry(id)?.state ?? (await this.#catalogue.find(id))?.card.state;
  }

  async load(id: string, signal: AbortSignal, waitMs?: number): Promise<void> {
    const found = await this.#catalogue.find(id);
    if (!found) throw inferenceError('model_not_found', `No model ${id} is installed here.`, { param: 'model' });
    (await this.#acquire(found, undefined, { tenant: '', signal }, 0, waitMs)).release();
  }

  setPinned(id: string, isPinned: boolean): void {
    this.#registry.setPinned(id, isPinned);
  }

  /** Inspects a model for background jobs; requests that want the same file share the result. Undefined when there is no such model. */
  inspect(id: string): Promise<InspectionResult | undefined> {
    return this.#catalogue.inspect(id);
  }

  countJobs(id: string): number {
    return this.#registry.entry(id)?.nReservations ?? 0;
  }

  rescan(): void {
    this.#catalogue.forget();
  }

  unload(id: string, options: { force: boolean }): Promise<void> {
    return this.#registry.unload(id, options);
  }

  /** Models in memory with their engines, for the metrics. */
  *engines(): Iterable<{ id: string; model: LoadedModel }> {
    for (const { stored, model } of this.#registry.entries()) if (model) yield { id: stored.id, model };
  }

  close(): Promise<void> {
    this.#media.close();
    return this.#registry.close();
  }

  #failed(id: string, fault: NativeError): void {
    if (fault.code === 'device_failed') this.#opener.leaveDevices(id);
    this.#options.observer?.failed?.(id, fault);
  }

  /** The job with pixels and samples in the place of files. */
  async #decoded(
    { stored }: FoundModel,
    { native }: LoadedModel,
    { job: { media, ...job } }: CompletionRequest,
    { tenant, signal }: CallOptions,
  ): Promise<Omit<GenerationJob, 'tenant'>> {
    if (media === undefined) return job;
    const { supportsVision, audioRate } = native.info;
    const imagePixels = supportsVision ? (stored.projector?.imagePixels ?? defaultImagePixels) : 0;
    return { ...job, media: await this.#media.decode(tenant, media, { imagePixels, soundRate: audioRate }, signal) };
  }

  async #acquire(
    found: FoundModel,
    context: ContextKind | undefined,
    { signal, timeoutMs }: CallOptions,
    nTokens: number,
    waitMs = this.#loadWaitMs(timeoutMs),
  ): Promise<ModelReservation> {
    if (this.#unavailableReason) throw this.#unavailableReason;
    const { id, unusable } = found.card;
    if (unusable !== undefined) throw inferenceError('model_invalid', `The model ${id} is unusable: ${unusable}`);
    const plan = await this.#opener.memoryPlan(found);
    return this.#registry.acquire({ stored: found.stored, plan, context, nTokens }, signal, waitMs);
  }

  #loadWaitMs(timeoutMs = Number.POSITIVE_INFINITY): number {
    return Math.min(timeoutMs, this.#options.limits.loadWaitMs);
  }

  async #use<T>(
    card: ModelCard,
    context: ContextKind | undefined,
    options: CallOptions,
    nTokens: number,
    work: (model: LoadedModel) => Promise<T>,
  ): Promise<T> {
    const reservation = await this.#acquire(this.#catalogue.get(card), context, options, nTokens);
    try {
      return await work(reservation.model);
    } catch (error) {
      throw reservation.model.fault ?? error;
    } finally {
      reservation.release();
    }
  }

  /** `work` gets what the load has left of the caller's time. */
  #useEmbedder<T>(
    card: ModelCard,
    options: CallOptions,
    nTokens: number,
    work: (embedder: NativeEmbedder, left: CallOptions) => Promise<T>,
  ): Promise<T> {
    const startedAt = performance.now();
    return this.#use(card, 'embedder', options, nTokens, async (model) => {
      const embedder = await model.embedder();
      return work(embedder, { ...options, tenant: turnOf(options), ...timeLeft(options, performance.now() - startedAt) });
    });
  }
}

/** No tenant's name has a line break. */
function turnOf({ tenant, isBackground }: CallOptions): string {
  return isBackground === true ? `${tenant}\nbackground` : tenant;
}

function defaultContexts(stored: StoredModel): ContextKind[] {
  const context = defaultContext(stored);
  return context ? [context] : [];
}

function findUnavailableReason(binding: NativeBinding): InferenceError | undefined {
  try {
    binding.systemInfo();
    return undefined;
  } catch (error) {
    return inferenceFailure(error);
  }
}

function loadedFacts({ native, nGpuLayers, openEngine, openEmbedder }: LoadedModel, memory: MemoryUse): Partial<ModelDetail> {
  const context = openEngine ?? openEmbedder;
  return {
    info: native.info,
    memoryBytes: totalBytes(memory),
    deviceBytes: memory.deviceBytes,
    nGpuLayers,
    ...(context ? { limits: context.limits } : {}),
    ...(openEngine ? { stats: openEngine.stats() } : {}),
  };
}
