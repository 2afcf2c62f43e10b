/** The engine of this process as an InferenceBackend. */
import type {
  EmbedResult,
  EngineEvents,
  EngineOptions,
  GenerationJob,
  LoadOptions,
  MemoryPlan,
  RankResult,
} from '../../../native/llama.ts';
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
import type { ModelSource, StoredModel } from '../models/model-source.ts';
import { estimateJobTokens, estimatePromptTokens, estimateTextTokens } from '../usage/prompt-estimate.ts';
import type { Inspector } from './inspection/inspector.ts';
import { LoadedModel } from './loaded-model.ts';
import { sumOf, totalBytes } from './memory-use.ts';
import { type FoundModel, ModelCatalogue } from './model-catalogue.ts';
import { type ContextKind, defaultContext, type ModelReservation, memoryOf, predictedMemory } from './model-entry.ts';
import { ModelRegistry, type RegistryLimits, type RegistryObserver } from './model-registry.ts';
import type { NativeBinding, NativeEmbedder, NativeModel } from './native-binding.ts';

export interface LocalOptions {
  /** Never unloaded to make room. */
  pinned: readonly string[];
  limits: RegistryLimits;
  engine: EngineOptions;
  /** Models that draft for others, by the id of the model that they draft for. */
  draftModels?: ReadonlyMap<string, string>;
  load: Omit<LoadOptions, 'path' | 'projectorPath' | 'vocabOnly' | 'loras'>;
  events?: EngineEvents;
  observer?: RegistryObserver;
}

export class LocalBackend implements InferenceBackend, ModelControl {
  readonly #binding: NativeBinding;
  readonly #options: LocalOptions;
  readonly #registry: ModelRegistry;
  readonly #catalogue: ModelCatalogue;
  #unavailableReason: InferenceError | undefined;

  constructor(binding: NativeBinding, source: ModelSource, inspector: Inspector, options: LocalOptions) {
    this.#binding = binding;
    this.#options = options;
    this.#registry = new ModelRegistry(
      (stored, onProgress, signal) => this.#open(stored, onProgress, signal),
      options.limits,
      options.pinned,
      options.observer,
    );
    const planOf = (stored: StoredModel) => ({ engine: planned(options.engine), load: this.#loadOptions(stored) });
    this.#catalogue = new ModelCatalogue(source, inspector, this.#registry, () => !this.#unavailableReason, planOf);
  }

  /** Loads the addon. Called again after close(). */
  open(): void {
    this.#unavailableReason = findUnavailableReason(this.#binding);
    this.#registry.open();
  }

  unavailableReason(): InferenceError | undefined {
    return this.#unavailableReason;
  }

  models(): Promise<ModelCard[]> {
    return this.#catalogue.cards();
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
      const job = localJob(request.job, reservation.model.adapters, options, performance.now() - startedAt);
      const jobId = engine.submit(job, sink);
      return {
        cancel: () => engine.cancel(jobId),
        pause: () => engine.pause(jobId),
        resume: () => engine.resume(jobId),
        release: () => reservation.release(),
      };
    } catch (error) {
      reservation.release();
      throw error;
    }
  }

  embed(card: ModelCard, inputs: (string | Int32Array)[], options: CallOptions): Promise<EmbedResult> {
    return this.#useEmbedder(card, options, estimateTextTokens(inputs), (embedder, left) => embedder.embed(inputs, left));
  }

  rank(card: ModelCard, query: string, documents: string[], options: CallOptions): Promise<RankResult> {
    return this.#useEmbedder(card, options, estimateTextTokens([query, ...documents]), (embedder, left) =>
      embedder.rank(query, documents, left),
    );
  }

  countTokens(card: ModelCard, prompt: ChatPrompt, options: CallOptions): Promise<number> {
    return this.#use(
      card,
      undefined,
      options,
      estimatePromptTokens(prompt),
      async (model) => (await model.native.renderChat(prompt)).tokens.length,
    );
  }

  tokenize(card: ModelCard, text: string, flags: TokenizeFlags, options: CallOptions): Promise<Int32Array> {
    return this.#use(card, undefined, options, estimateTextTokens([text]), (model) => model.native.tokenize(text, flags));
  }

  detokenize(card: ModelCard, tokens: Int32Array, options: CallOptions): Promise<string> {
    return this.#use(card, undefined, options, tokens.length, (model) => model.native.detokenize(tokens, { special: true }));
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
      ...(model ? { memoryBytes: totalBytes(memoryOf(entry)), ...loadedFacts(model) } : {}),
    };
  }

  /** Of a model that is in memory without a look at the disk: probes ask often. Undefined when there is no such model. */
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

  unload(id: string, options: { force: boolean }): Promise<void> {
    return this.#registry.unload(id, options);
  }

  /** Models in memory with their engines, for the metrics. */
  *engines(): Iterable<{ id: string; model: LoadedModel }> {
    for (const { stored, model } of this.#registry.entries()) if (model) yield { id: stored.id, model };
  }

  close(): Promise<void> {
    return this.#registry.close();
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
    const plan = await this.#planWithDraft(found);
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
      return work(embedder, { ...options, ...timeLeft(options, performance.now() - startedAt) });
    });
  }

  #loadOptions({ projectorPath, adapters = [] }: StoredModel): Omit<LoadOptions, 'path'> {
    return { ...this.#options.load, loras: adapters, ...(projectorPath === undefined ? {} : { projectorPath }) };
  }

  /** The model that drafts for this one, if there is to be one. */
  async #findDraft({ id, kind }: StoredModel): Promise<FoundModel | undefined> {
    const draftId = kind === 'chat' ? this.#options.draftModels?.get(id) : undefined;
    if (draftId === undefined) return undefined;
    const found = await this.#catalogue.find(draftId);
    if (!found)
      throw inferenceError('model_invalid', `inference.draft_model names ${draftId} for ${id}, which is not installed.`);
    return found;
  }

  /** With what its draft model takes beside it. */
  async #planWithDraft({ stored, plan }: FoundModel): Promise<MemoryPlan | undefined> {
    const draft = (await this.#findDraft(stored))?.plan;
    if (!plan || !draft) return plan;
    const extras = sumOf(plan.extras, draft.weights, draft.extras);
    return { ...plan, extras, ...(plan.engine ? { engine: sumOf(plan.engine, draft.engine) } : {}) };
  }

  async #openDraft(stored: StoredModel, signal: AbortSignal): Promise<NativeModel | undefined> {
    const draft = await this.#findDraft(stored);
    return draft && this.#binding.load({ ...this.#options.load, path: draft.stored.path }, { onProgress: () => {}, signal });
  }

  async #open(stored: StoredModel, onProgress: (fraction: number) => void, signal: AbortSignal): Promise<LoadedModel> {
    const { path, kind, adapters = [] } = stored;
    const options = { ...this.#loadOptions(stored), path, ...(kind === 'vocab' ? { vocabOnly: true } : {}) };
    const native = await this.#binding.load(options, { onProgress, signal });
    const draft = await this.#openDraft(stored, signal).catch(async (error: unknown) => {
      await native.close();
      throw error;
    });
    const model = new LoadedModel(
      native,
      this.#options.engine,
      adapters.map(({ name }) => name),
      this.#options.events,
      draft,
    );
    try {
      const context = defaultContext(stored);
      if (context === 'engine') await model.engine();
      if (context === 'embedder') await model.embedder();
      return model;
    } catch (error) {
      await model.close();
      throw error;
    }
  }
}

/** What decides about memory; the queue and the threads do not. */
function planned({ maxQueuedJobs: _jobs, maxQueuedTokens: _tokens, maxQueueMs: _ms, ...rest }: EngineOptions): EngineOptions {
  return rest;
}

function defaultContexts(stored: StoredModel): ContextKind[] {
  const context = defaultContext(stored);
  return context ? [context] : [];
}

function localJob(
  job: Omit<GenerationJob, 'tenant'>,
  adapters: readonly string[],
  options: CallOptions,
  spentMs: number,
): GenerationJob {
  const loras = job.loras ? { loras: job.loras.map(({ name, scale }) => ({ name: adapterName(name, adapters), scale })) } : {};
  return { ...job, ...loras, ...timeLeft(options, spentMs), tenant: options.tenant };
}

/** Native code counts from now on; a time that has passed is told by it as well. */
function timeLeft({ timeoutMs }: CallOptions, spentMs: number): { timeoutMs?: number } {
  return timeoutMs === undefined ? {} : { timeoutMs: Math.max(1, Math.ceil(timeoutMs - spentMs)) };
}

/** llama-server names adapters by their index. */
function adapterName(name: string, adapters: readonly string[]): string {
  const found = adapters.includes(name) ? name : /^\d+$/.test(name) ? adapters[Number(name)] : undefined;
  if (found !== undefined) return found;
  const known = adapters.join(', ') || 'none';
  throw inferenceError('invalid_request', `lora names the adapter ${name}, which this model does not have; it has: ${known}.`, {
    param: 'lora',
  });
}

function findUnavailableReason(binding: NativeBinding): InferenceError | undefined {
  try {
    binding.systemInfo();
    return undefined;
  } catch (error) {
    return inferenceFailure(error);
  }
}

function loadedFacts({ native, openEngine, openEmbedder }: LoadedModel): Partial<ModelDetail> {
  const context = openEngine ?? openEmbedder;
  return {
    info: native.info,
    ...(context ? { limits: context.limits } : {}),
    ...(openEngine ? { stats: openEngine.stats() } : {}),
  };
}
