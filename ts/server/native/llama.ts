/**
 * The typed door to native/llama: models, generation engines and embedders.
 *
 * Lifetimes: close() is idempotent and explicit; a model outlives its engines because they hold it natively.
 * Threads: submit(), cancel(), pause() and resume() are synchronous and O(1); everything slow runs on native threads.
 */
import { loadAddon } from './load.ts';
import { NativeError } from './native-error.ts';
import { type GenerationHandler, StepReader } from './step-reader.ts';

export type { FinishReason, GenerationHandler, JobUsage, TokenLogprob } from './step-reader.ts';
export { NativeError };

export interface LoadOptions {
  /** GGUF file (for a split model: its first part). */
  path: string;
  /** Projector GGUF for image input. */
  projectorPath?: string;
  /** Layers kept in GPU memory; -1 means all that fit. */
  nGpuLayers?: number;
  mmap?: boolean;
  mlock?: boolean;
  /** Load the tokenizer alone: such a model tokenises and detokenises, nothing else. */
  vocabOnly?: boolean;
  /** Read all but the weights and plan a small context, to judge an unknown file: such a model tokenises, nothing else. */
  dryRun?: boolean;
  /** LoRA adapters that a job may name, with a scale of its own. */
  loras?: { name: string; path: string }[];
  /** Jinja chat template that replaces the model's own. */
  chatTemplate?: string;
}

export interface ModelInfo {
  architecture: string;
  description: string;
  name: string;
  nParams: number;
  sizeBytes: number;
  nVocab: number;
  nCtxTrain: number;
  nEmbd: number;
  nLayer: number;
  pooling: 'unspecified' | 'none' | 'mean' | 'cls' | 'last' | 'rank';
  hasEncoder: boolean;
  hasDecoder: boolean;
  hasChatTemplate: boolean;
  supportsTools: boolean;
  supportsThinking: boolean;
  supportsVision: boolean;
  supportsAudio: boolean;
}

export interface EngineOptions {
  /** KV cells for all sequences together; 0 means automatic. */
  nCtx?: number;
  /** Sequences that decode at once. */
  nParallel?: number;
  nBatch?: number;
  nUbatch?: number;
  nThreads?: number;
  nThreadsBatch?: number;
  flashAttention?: 'auto' | 'on' | 'off';
  cacheTypeK?: string;
  cacheTypeV?: string;
  /** One KV buffer for all sequences (a long request may use it all) or one share each. */
  kvUnified?: boolean;
  /** Memory for the states of sequences that gave way, so that a chat goes on without evaluating its past again; 0 keeps none. */
  kvTierMemoryBytes?: number;
  /** Disk for the states that memory has no room for; 0 keeps none. Files live in `kvTierFolder` until the engine closes. */
  kvTierDiskBytes?: number;
  kvTierFolder?: string;
  /** Speculative decoding: auto drafts only while that pays, by measurement. */
  speculation?: 'auto' | 'always' | 'off';
  /** Most tokens drafted for one sequence in one step, 0 to 64. */
  nDraftMax?: number;
  /** Jobs that may wait; one more is refused with queue_full. */
  maxQueuedJobs?: number;
  maxQueuedTokens?: number;
  /** Longest wait, by the measured rate of completions, milliseconds; a job that would wait longer is refused. 0: however long. */
  maxQueueMs?: number;
}

/** Bytes in main memory, and in the memory of devices. */
export interface MemoryUse {
  hostBytes: number;
  deviceBytes: number;
}

/** What a model will take; `engine` is missing for models that only encode. */
export interface MemoryPlan {
  weights: MemoryUse;
  /** Tokenizer, projector and adapters. */
  extras: MemoryUse;
  engine?: MemoryUse;
  embedder?: MemoryUse;
}

export interface EngineLimits {
  nCtx: number;
  /** Longest prompt plus completion of one job, tokens. */
  nCtxPerJob: number;
  nParallel: number;
  nThreads: number;
  /** KV cache and compute buffers. */
  memory: MemoryUse;
  /** The model's weights as they lie in memory. */
  weights: MemoryUse;
}

export interface EngineStats {
  nQueued: number;
  nQueuedTokens: number;
  nActive: number;
  kvCellsUsed: number;
  kvCells: number;
  promptTokensTotal: number;
  cachedTokensTotal: number;
  completionTokensTotal: number;
  /** Saved states of sequences that gave way. */
  tierMemoryBytes: number;
  tierDiskBytes: number;
  /** Times that a saved state was brought back, and prompt tokens that were not evaluated because of it. */
  tierHitsTotal: number;
  restoredTokensTotal: number;
  /** Of speculative decoding: tokens verified, and those that were right. */
  draftedTokensTotal: number;
  acceptedTokensTotal: number;
  stepsTotal: number;
  lastStepMs: number;
  /** Measured completion rate of jobs, per second; for Retry-After. */
  jobsPerSecond: number;
}

/** A prompt is chat messages (rendered by the model's template), plain text, or token ids. */
export type Prompt =
  | {
      kind: 'chat';
      /** OpenAI-style messages and tools as JSON text; parsed on the engine's own threads. */
      messagesJson: string;
      toolsJson?: string;
      toolChoice?: 'auto' | 'required' | 'none';
      parallelToolCalls?: boolean;
      enableThinking?: boolean;
      templateKwargsJson?: string;
    }
  | { kind: 'text'; text: string; addSpecial?: boolean }
  | { kind: 'tokens'; tokens: Int32Array };

/** llama.cpp's sampler names and defaults. */
export interface Sampling {
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  typicalP?: number;
  repeatPenalty?: number;
  repeatLastN?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  mirostat?: 0 | 1 | 2;
  mirostatTau?: number;
  mirostatEta?: number;
  dryMultiplier?: number;
  xtcProbability?: number;
  xtcThreshold?: number;
  seed?: number;
  ignoreEos?: boolean;
}

export interface GenerationJob {
  /** Who pays: prefix-cache keys and fair shares are per tenant. */
  tenant: string;
  prompt: Prompt;
  /** Encoded images, in the order of the `image_url` parts of the messages. */
  media?: Uint8Array[];
  jsonSchema?: string;
  grammar?: string;
  /** Most tokens of one choice; absent means until the context is full. */
  maxTokens?: number;
  n?: number;
  stop?: string[];
  sampling?: Sampling;
  logitBias?: [token: number, bias: number][];
  /** Alternatives reported with each token, 0 to 20; absent means no log probabilities. */
  topLogprobs?: number;
  loras?: { name: string; scale: number }[];
  /** Where drafts come from: anywhere, nowhere, the job's own tokens, the draft model. */
  draftSource?: 'any' | 'none' | 'ngram' | 'model';
  /** Lowers the engine's own limit. */
  nDraftMax?: number;
  cachePrompt?: boolean;
  /** Higher runs first; 0 is normal. */
  priority?: number;
  /** Milliseconds from submit after which the job fails with deadline_exceeded. */
  timeoutMs?: number;
}

interface RawEngine {
  limits(): EngineLimits;
  stats(): EngineStats;
  submit(job: GenerationJob): number;
  cancel(id: number): void;
  pause(id: number): void;
  resume(id: number): void;
  close(): Promise<void>;
}

interface RawEmbedder {
  limits(): EngineLimits;
  embed(inputs: (string | Int32Array)[]): Promise<EmbedResult>;
  rank(query: string, documents: string[]): Promise<RankResult>;
  close(): Promise<void>;
}

interface RawModel {
  info(): ModelInfo;
  tokenize(text: string, addSpecial: boolean, parseSpecial: boolean): Promise<Int32Array>;
  detokenize(tokens: Int32Array, special: boolean): Promise<string>;
  renderChat(job: Extract<Prompt, { kind: 'chat' }>): Promise<{ prompt: string; tokens: Int32Array }>;
  createEngine(options: EngineOptions & { draftModel?: RawModel }, onStep: (records: Buffer) => void): Promise<RawEngine>;
  createEmbedder(options: EngineOptions): Promise<RawEmbedder>;
  planMemory(engine: EngineOptions, load: LoadOptions): Promise<MemoryPlan>;
  close(): Promise<void>;
}

export interface EmbedResult {
  /** One L2-normalised vector of nEmbd floats for each input, in order. */
  vectors: Float32Array[];
  nTokens: number[];
}

export interface RankResult {
  /** One relevance score for each document, in order; higher is more relevant. */
  scores: Float32Array;
  nTokens: number[];
}

/** What native/llama/addon.cpp registers. */
export interface LlamaAddon {
  systemInfo(): SystemInfo;
  startLoad(options: LoadOptions, onProgress: (fraction: number) => void): { id: number; model: Promise<RawModel> };
  abortLoad(id: number): void;
}

export interface SystemInfo {
  llamaVersion: string;
  ggmlVersion: string;
  devices: { name: string; description: string; kind: 'cpu' | 'gpu' | 'accelerator'; memoryBytes: number; freeBytes: number }[];
  /** Features that the loaded CPU backend uses, for example AVX2 or AVX512. */
  cpuFeatures: string[];
}

export class LlamaModel {
  readonly info: ModelInfo;
  readonly #raw: RawModel;

  private constructor(raw: RawModel) {
    this.#raw = raw;
    this.info = raw.info();
  }

  /** Loads a model; onProgress gets 0 to 1. Throws NativeError with model_invalid, model_not_found or load_aborted. */
  static async load(
    options: LoadOptions,
    { onProgress = () => {}, signal }: { onProgress?: (fraction: number) => void; signal?: AbortSignal } = {},
  ): Promise<LlamaModel> {
    signal?.throwIfAborted();
    const addon = loadAddon('llama') as LlamaAddon;
    const load = addon.startLoad(options, onProgress);
    const abort = () => addon.abortLoad(load.id);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return new LlamaModel(await load.model);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  async tokenize(text: string, { addSpecial = true, parseSpecial = true } = {}): Promise<Int32Array> {
    return this.#raw.tokenize(text, addSpecial, parseSpecial);
  }

  async detokenize(tokens: Int32Array, { special = false } = {}): Promise<string> {
    return this.#raw.detokenize(tokens, special);
  }

  /** Renders messages with the chat template and tokenises them, without generating. */
  async renderChat(prompt: Extract<Prompt, { kind: 'chat' }>): Promise<{ prompt: string; tokens: Int32Array }> {
    return this.#raw.renderChat(prompt);
  }

  /**
   * A draft model guesses for this one in speculative decoding; throws NativeError draft_model_incompatible when their vocabularies
   * differ. `onFault` hears of a handler that threw: its job alone is failed and cancelled.
   */
  async createEngine(
    options: EngineOptions = {},
    onFault: (error: unknown) => void = () => {},
    draftModel?: LlamaModel,
  ): Promise<LlamaEngine> {
    const reader = new StepReader((job, error) => {
      raw.cancel(job);
      onFault(error);
    });
    const draft = draftModel ? { draftModel: draftModel.#raw } : {};
    const raw = await this.#raw.createEngine({ ...options, ...draft }, (records) => reader.read(records));
    return new LlamaEngine(raw, reader);
  }

  /** What this model, loaded with dryRun, would take with its contexts; `load` names its projector and adapters. */
  async planMemory(engine: EngineOptions, load: LoadOptions): Promise<MemoryPlan> {
    return this.#raw.planMemory(engine, load);
  }

  async createEmbedder(options: EngineOptions = {}): Promise<LlamaEmbedder> {
    return new LlamaEmbedder(await this.#raw.createEmbedder(options));
  }

  close(): Promise<void> {
    return this.#raw.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

export class LlamaEngine {
  readonly limits: EngineLimits;
  readonly #raw: RawEngine;
  readonly #reader: StepReader;

  constructor(raw: RawEngine, reader: StepReader) {
    this.#raw = raw;
    this.#reader = reader;
    this.limits = raw.limits();
  }

  /**
   * Queues a job and returns its id. Throws NativeError queue_full (with retryAfterMs), closed or invalid_argument at once;
   * everything else arrives at handler.onError.
   */
  submit(job: GenerationJob, handler: GenerationHandler): number {
    const id = this.#raw.submit(job);
    this.#reader.add(id, handler);
    return id;
  }

  /** Frees the job's sequences within one step; its handler hears nothing more. Unknown ids are ignored. */
  cancel(id: number): void {
    this.#reader.remove(id);
    this.#raw.cancel(id);
  }

  /** Stops decoding for this job alone (a slow reader) until resume(). */
  pause(id: number): void {
    this.#raw.pause(id);
  }

  resume(id: number): void {
    this.#raw.resume(id);
  }

  stats(): EngineStats {
    return this.#raw.stats();
  }

  close(): Promise<void> {
    return this.#raw.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

export class LlamaEmbedder {
  readonly limits: EngineLimits;
  readonly #raw: RawEmbedder;

  constructor(raw: RawEmbedder) {
    this.#raw = raw;
    this.limits = raw.limits();
  }

  /** Embeds texts or token ids; batches across callers. Throws NativeError context_length_exceeded naming the input. */
  async embed(inputs: (string | Int32Array)[]): Promise<EmbedResult> {
    return this.#raw.embed(inputs);
  }

  /** Scores documents against a query; needs a model whose pooling is 'rank'. */
  async rank(query: string, documents: string[]): Promise<RankResult> {
    return this.#raw.rank(query, documents);
  }

  close(): Promise<void> {
    return this.#raw.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

export function systemInfo(): SystemInfo {
  return (loadAddon('llama') as LlamaAddon).systemInfo();
}
