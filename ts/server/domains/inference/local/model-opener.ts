/** Brings a model into memory with all that belongs to it: projector, adapters, draft model and the context that it needs first. */
import type { EngineOptions, LoadOptions, MemoryPlan } from '../../../native/llama-shapes.ts';
import { inferenceError } from '../errors.ts';
import type { StoredModel } from '../models/model-source.ts';
import type { InspectionPlan } from './inspection/inspection-process.ts';
import { LoadedModel } from './loaded-model.ts';
import type { LocalOptions } from './local-options.ts';
import { sumOf } from './memory-use.ts';
import type { FoundModel } from './model-catalogue.ts';
import { defaultContext } from './model-entry.ts';
import type { NativeBinding, NativeModel } from './native-binding.ts';

type FindModel = (id: string) => Promise<FoundModel | undefined>;

export class ModelOpener {
  readonly #binding: NativeBinding;
  readonly #options: LocalOptions;
  readonly #find: FindModel;

  /** `find` finds the draft models, by their id. */
  constructor(binding: NativeBinding, options: LocalOptions, find: FindModel) {
    this.#binding = binding;
    this.#options = options;
    this.#find = find;
  }

  /** What a dry run needs to plan the model's memory. */
  inspectionPlan(stored: StoredModel): InspectionPlan {
    return { engine: planned(this.#options.engine), load: this.#loadOptions(stored) };
  }

  /** What the model takes in memory, with what its draft model takes beside it; undefined where inspection could not tell. */
  async memoryPlan({ stored, plan }: FoundModel): Promise<MemoryPlan | undefined> {
    const draft = (await this.#findDraft(stored))?.plan;
    if (!plan || !draft) return plan;
    const extras = sumOf(plan.extras, draft.weights, draft.extras);
    return { ...plan, extras, ...(plan.engine ? { engine: sumOf(plan.engine, draft.engine) } : {}) };
  }

  /** Throws NativeError of the load, or model_invalid when the draft model is not there. */
  async open(stored: StoredModel, onProgress: (fraction: number) => void, signal: AbortSignal): Promise<LoadedModel> {
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

  async #openDraft(stored: StoredModel, signal: AbortSignal): Promise<NativeModel | undefined> {
    const draft = await this.#findDraft(stored);
    return draft && this.#binding.load({ ...this.#options.load, path: draft.stored.path }, { onProgress: () => {}, signal });
  }

  /** The model that drafts for this one, if there is to be one. */
  async #findDraft({ id, kind }: StoredModel): Promise<FoundModel | undefined> {
    const draftId = kind === 'chat' ? this.#options.draftModels?.get(id) : undefined;
    if (draftId === undefined) return undefined;
    const found = await this.#find(draftId);
    if (!found)
      throw inferenceError('model_invalid', `inference.draft_model names ${draftId} for ${id}, which is not installed.`);
    return found;
  }

  #loadOptions({ projectorPath, adapters = [] }: StoredModel): Omit<LoadOptions, 'path'> {
    return { ...this.#options.load, loras: adapters, ...(projectorPath === undefined ? {} : { projectorPath }) };
  }
}

/** What decides about memory; the queue and the threads do not. */
function planned({ maxQueuedJobs: _jobs, maxQueuedTokens: _tokens, maxQueueMs: _ms, ...rest }: EngineOptions): EngineOptions {
  return rest;
}
