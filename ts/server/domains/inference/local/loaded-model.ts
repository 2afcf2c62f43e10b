/** A model in memory with the contexts that were made of it, each on first need. */
import type { EngineEvents, EngineOptions } from '../../../native/llama-shapes.ts';
import type { NativeError } from '../../../native/native-error.ts';
import { type MemoryUse, sumOf } from './memory-use.ts';
import type { ModelFiles } from './model-files.ts';
import type { NativeEmbedder, NativeEngine, NativeModel } from './native-binding.ts';

export class LoadedModel {
  readonly native: NativeModel;
  /** Names of the LoRA adapters that were loaded with it. */
  readonly adapters: readonly string[];
  readonly #options: EngineOptions;
  readonly #events: EngineEvents;
  /** Drafts for it in speculative decoding. */
  readonly #draft: NativeModel | undefined;
  readonly files: ModelFiles | undefined;
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

  /** As it was allocated: the weights, each context that exists, and the states that the engine saved so far. */
  memory(): { weights: MemoryUse; engine: MemoryUse | undefined; embedder: MemoryUse | undefined } {
    const { openEngine: engine, openEmbedder: embedder } = this;
    const weights = (engine ?? embedder)?.limits.weights ?? { hostBytes: this.native.info.sizeBytes, deviceBytes: 0 };
    const saved = { hostBytes: engine?.stats().offloadMemoryBytes ?? 0, deviceBytes: 0 };
    return { weights, engine: engine && sumOf(engine.limits.memory, saved), embedder: embedder?.limits.memory };
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
