/** What crosses the binding to native/llama: options and jobs on the way in, facts and figures on the way out. */
import type { MessagePort } from 'node:worker_threads';

export type { EngineEvents, FinishReason, GenerationHandler, JobUsage, TokenLogprob } from './step-reader.ts';

/** Bytes that were handed to native code in pieces; see stageBytes() in llama.ts. They can be used once. */
export interface StagedBytes {
  append(bytes: Uint8Array): void;
}

/** Bytes that wait at a message port, as Uint8Arrays. They can be read once. */
export interface QueuedBytes {
  sizeBytes: number;
  port: MessagePort;
}

/** Long text may come as UTF-8 bytes, which cost the JS thread less than a string. Native code takes queued ones when they are staged. */
export type Text = string | Uint8Array | QueuedBytes | StagedBytes;

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
  kvOffloadMemoryBytes?: number;
  /** Disk for the states that memory has no room for; 0 keeps none. Files live in `kvOffloadFolder` until the engine closes. */
  kvOffloadDiskBytes?: number;
  kvOffloadFolder?: string;
  /** Speculative decoding: auto drafts only while that pays, by measurement. */
  speculation?: 'auto' | 'always' | 'off';
  /** Most tokens drafted for one sequence in one step, 0 to 64. */
  nDraftMax?: number;
  /** Jobs that may wait; one more is refused with queue_full. */
  maxQueuedJobs?: number;
  maxQueuedTokens?: number;
  /** Longest wait, by the measured rate of completions, milliseconds; a job that would wait longer is refused. 0: however long. */
  maxQueueMs?: number;
  /** Main memory that this process may have, of which an automatic context takes a share; absent: all that the machine has. */
  hostMemoryBytes?: number;
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
  offloadMemoryBytes: number;
  offloadDiskBytes: number;
  /** Times that a saved state was brought back, and prompt tokens that were not evaluated because of it. */
  offloadHitsTotal: number;
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
      messagesJson: Text;
      toolsJson?: Text;
      toolChoice?: 'auto' | 'required' | 'none';
      parallelToolCalls?: boolean;
      enableThinking?: boolean;
      templateKwargsJson?: Text;
    }
  | { kind: 'text'; text: Text; addSpecial?: boolean }
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
  media?: (Uint8Array | QueuedBytes | StagedBytes)[];
  jsonSchema?: Text;
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

export interface EmbedOptions {
  /** Whose turn it is goes by what each tenant was served; the queue's bounds are per tenant too. */
  tenant?: string;
  /** Milliseconds after which it fails with deadline_exceeded. */
  timeoutMs?: number;
  /** What is left of the texts when it fires is not computed, and the call fails with its reason. */
  signal?: AbortSignal;
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

export interface SystemInfo {
  llamaVersion: string;
  ggmlVersion: string;
  devices: { name: string; description: string; kind: 'cpu' | 'gpu' | 'accelerator'; memoryBytes: number; freeBytes: number }[];
  /** Features that the loaded CPU backend uses, for example AVX2 or AVX512. */
  cpuFeatures: string[];
}
