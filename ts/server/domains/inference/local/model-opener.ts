/** Brings a model into memory with all that belongs to it: projector, adapters, draft model and the context that it needs first. */

import { gpuState } from '../../../native/gpu-state.ts';
import type { EngineEvents, EngineOptions, LoadOptions, MemoryPlan } from '../../../native/llama-shapes.ts';
import type { NativeError } from '../../../native/native-error.ts';
import { inferenceError } from '../errors.ts';
import type { StoredModel } from '../models/model-source.ts';
import type { InspectionPlan } from './inspection/inspection-process.ts';
import type { LocalOptions } from './local-options.ts';
import { type MemoryUse, sumOf } from './memory-use.ts';
import type { FoundModel } from './model-catalogue.ts';
import { defaultContext, type ModelRequest } from './model-entry.ts';
import { ModelFiles, partsOf } from './model-files.ts';
import type { NativeBinding, NativeEmbedder, NativeEngine, NativeModel } from './native-binding.ts';

/** The value of nGpuLayers that leaves their number to the memory there is. */
const asManyAsFit = -1;

type FindModel = (id: string) => Promise<FoundModel | undefined>;

export class ModelOpener {
  readonly #binding: NativeBinding;
  readonly #options: LocalOptions;
  readonly #find: FindModel;
  /** Models for which a GPU failed. */
  readonly #failedOnDevices = new Set<string>();
  #isGpuLost = false;

  /** `find` finds the draft models, by their id. */
  constructor(binding: NativeBinding, options: LocalOptions, find: FindModel) {
    this.#binding = binding;
    this.#options = options;
    this.#find = find;
  }

  /** From now on the CPU computes for it, and for all models once a GPU is lost. */
  leaveDevices(id: string): void {
    this.#failedOnDevices.add(id);
    this.#isGpuLost ||= this.#binding.systemInfo().cuda.isLost;
  }

  /** Returns what a dry run needs to plan the model's memory. */
  inspectionPlan(stored: StoredModel): InspectionPlan {
    const load = this.#loadOptions(stored);
    const { deviceBytes } = this.#options.limits.memory;
    const fits = (load.nGpuLayers ?? asManyAsFit) === asManyAsFit && deviceBytes > 0 && Number.isFinite(deviceBytes);
    return { engine: planned(this.#engineOptions(stored)), load, ...(fits ? { deviceBytes } : {}) };
  }

  /** Returns the memory that the model takes, with its draft model's; undefined where inspection could not tell. */
  async memoryPlan({ stored, plan }: FoundModel): Promise<MemoryPlan | undefined> {
    const draft = (await this.#findDraft(stored))?.plan;
    if (!plan) return undefined;
    const whole = draft ? withDraft(plan, draft) : plan;
    return this.#isOffDevices(stored.id) ? onHost(whole) : whole;
  }

  /** Throws NativeError of the load, or model_invalid when the draft model is not there. */
  async open(
    { stored, plan }: Pick<ModelRequest, 'stored' | 'plan'>,
    onProgress: (fraction: number) => void,
    signal: AbortSignal,
  ): Promise<LoadedModel> {
    const { path, kind, adapters = [] } = stored;
    if (this.#options.isGpuRequired === true) this.#requireGpu(stored.id);
    const options = { ...this.#loadOptions(stored, plan), path, ...(kind === 'vocab' ? { vocabOnly: true } : {}) };
    const files = await this.#openFiles(stored, options.mmap !== false);
    const native = await this.#binding.load(options, { onProgress, signal }).catch(async (error: unknown) => {
      await files?.close();
      throw error;
    });
    const draft = await this.#openDraft(stored, signal).catch(async (error: unknown) => {
      await native.close();
      await files?.close();
      throw error;
    });
    const model = new LoadedModel(
      native,
      this.#engineOptions(stored),
      adapters.map(({ name }) => name),
      this.#options.events,
      draft,
      files,
    );
    model.nGpuLayers = this.#layersOnGpus(native.info.nLayer, options.nGpuLayers, options.devices);
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

  /** Opens the files of the model and of its draft model. Weights that were copied to memory need no file any more. */
  async #openFiles(stored: StoredModel, isMapped: boolean): Promise<ModelFiles | undefined> {
    if (!isMapped) return undefined;
    const draft = await this.#findDraft(stored);
    return ModelFiles.open([...partsOf(stored.path), ...(draft === undefined ? [] : partsOf(draft.stored.path))]);
  }

  async #openDraft(stored: StoredModel, signal: AbortSignal): Promise<NativeModel | undefined> {
    const draft = await this.#findDraft(stored);
    if (draft === undefined) return undefined;
    const device = this.#isOffDevices(stored.id) ? onCpu : {};
    const options = { ...this.#loadOptions(draft.stored, draft.plan), ...device, path: draft.stored.path };
    return this.#binding.load(options, { onProgress: () => {}, signal });
  }

  /** The model that drafts for this one, if there is to be one. */
  async #findDraft({ id, kind }: StoredModel): Promise<FoundModel | undefined> {
    const draftId = kind === 'chat' ? this.#options.draftModels?.get(id) : undefined;
    if (draftId === undefined || draftId === '') return undefined;
    const found = await this.#find(draftId);
    if (!found)
      throw inferenceError('model_invalid', `inference.draft_model names ${draftId} for ${id}, which is not installed.`);
    return found;
  }

  #engineOptions({ id }: StoredModel): EngineOptions {
    return { ...this.#options.engine, ...this.#options.models?.get(id)?.engine };
  }

  /** Returns the options of a load, with as many layers on devices as the plan found to fit. */
  #loadOptions({ id, projectorPath, adapters = [] }: StoredModel, plan?: MemoryPlan): Omit<LoadOptions, 'path'> {
    const own = this.#options.models?.get(id)?.load;
    const fitting = plan?.nGpuLayers === undefined ? {} : { nGpuLayers: plan.nGpuLayers };
    const projector = projectorPath === undefined ? {} : { projectorPath };
    const device = this.#isOffDevices(id) ? onCpu : {};
    return { ...this.#options.load, ...own, ...fitting, ...device, ...projector, loras: adapters };
  }

  #isOffDevices(id: string): boolean {
    return this.#isGpuLost || this.#failedOnDevices.has(id);
  }

  /** The layers of a loaded model that lie on GPUs, its output as one more. */
  #layersOnGpus(nLayer: number, asked = asManyAsFit, devices: readonly string[] = []): number {
    const hasGpu = devices[0] !== 'none' && this.#binding.systemInfo().devices.some(({ kind }) => kind === 'gpu');
    if (!hasGpu) return 0;
    return asked < 0 ? nLayer + 1 : Math.min(asked, nLayer + 1);
  }

  /** Throws device_failed. */
  #requireGpu(id: string): void {
    const { gpus, unused } = gpuState(this.#binding.systemInfo());
    if (gpus.length > 0 && !this.#isOffDevices(id)) return;
    const why = unused?.sentence ?? 'there is no library for GPUs (install svc-cuda)';
    throw inferenceError('device_failed', `inference.gpu_required is on, and ${id} would be computed by the CPU: ${why}.`);
  }
}

function withDraft(plan: MemoryPlan, draft: MemoryPlan): MemoryPlan {
  const extras = sumOf(plan.extras, draft.weights, draft.extras);
  return { ...plan, extras, ...(plan.engine ? { engine: sumOf(plan.engine, draft.engine) } : {}) };
}

/** Without any layer there, a GPU would still compute large batches. */
const onCpu = { nGpuLayers: 0, devices: ['none'] };

/** Moves what was planned for devices to main memory. */
function onHost({ nGpuLayers: _layers, ...plan }: MemoryPlan): MemoryPlan {
  const moved = ({ hostBytes, deviceBytes }: MemoryUse): MemoryUse => ({ hostBytes: hostBytes + deviceBytes, deviceBytes: 0 });
  return {
    ...plan,
    weights: moved(plan.weights),
    extras: moved(plan.extras),
    ...(plan.engine ? { engine: moved(plan.engine) } : {}),
    ...(plan.embedder ? { embedder: moved(plan.embedder) } : {}),
  };
}

/** Keeps the options that decide about memory; the queue and the threads do not. */
function planned({ maxQueuedJobs: _jobs, maxQueuedTokens: _tokens, maxQueueMs: _ms, ...rest }: EngineOptions): EngineOptions {
  return rest;
}

export class LoadedModel {
  readonly native: NativeModel;
  /** Names of the LoRA adapters that were loaded with it. */
  readonly adapters: readonly string[];
  readonly #options: EngineOptions;
  readonly #events: EngineEvents;
  /** Drafts for it in speculative decoding. */
  readonly #draft: NativeModel | undefined;
  readonly files: ModelFiles | undefined;
  /** Layers on GPUs, the output as one more. */
  nGpuLayers = 0;
  /** Why it must not be used any more. */
  fault: NativeError | undefined;
  #engine: Promise<NativeEngine> | undefined;
  #embedder: Promise<NativeEmbedder> | undefined;
  /** The engine once it exists, for statistics. */
  openEngine: NativeEngine | undefined;
  openEmbedder: NativeEmbedder | undefined;

  constructor(
    native: NativeModel,
    options: EngineOptions,
    adapters: readonly string[] = [],
    events: EngineEvents = {},
    draft?: NativeModel,
    files?: ModelFiles,
  ) {
    this.native = native;
    this.#draft = draft;
    this.adapters = adapters;
    this.#options = options;
    this.#events = events;
    this.files = files;
  }

  engine(): Promise<NativeEngine> {
    this.#engine ??= this.#createEngine();
    return this.#engine;
  }

  embedder(): Promise<NativeEmbedder> {
    this.#embedder ??= this.#createEmbedder();
    return this.#embedder;
  }

  /** The memory as it was allocated: the weights, each context that exists, and the states that the engine saved so far. */
  memory(): { weights: MemoryUse; engine: MemoryUse | undefined; embedder: MemoryUse | undefined } {
    const { openEngine: engine, openEmbedder: embedder } = this;
    const weights = (engine ?? embedder)?.limits.weights ?? { hostBytes: this.native.info.sizeBytes, deviceBytes: 0 };
    const saved = { hostBytes: engine?.stats().offloadMemoryBytes ?? 0, deviceBytes: 0 };
    return { weights, engine: engine && sumOf(engine.limits.memory, saved), embedder: embedder?.limits.memory };
  }

  hasDeviceFailed(): boolean {
    return [this.openEngine, this.openEmbedder].some((context) => context?.stats().deviceFailed === true);
  }

  /** Ends every job of the model with its fault, else with `closed`, then frees it. */
  async close(): Promise<void> {
    const contexts = await Promise.allSettled([this.#engine, this.#embedder]);
    for (const context of contexts) if (context.status === 'fulfilled') await context.value?.close(this.fault);
    await this.#draft?.close();
    await this.native.close();
    await this.files?.close();
  }

  async #createEngine(): Promise<NativeEngine> {
    try {
      this.openEngine = await this.native.createEngine(this.#options, this.#events, this.#draft);
      return this.openEngine;
    } catch (error) {
      this.#engine = undefined;
      throw error;
    }
  }

  async #createEmbedder(): Promise<NativeEmbedder> {
    try {
      this.openEmbedder = await this.native.createEmbedder(this.#options);
      return this.openEmbedder;
    } catch (error) {
      this.#embedder = undefined;
      throw error;
    }
  }
}
