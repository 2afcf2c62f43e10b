/** What crosses the binding to native/llama: options and jobs on the way in, facts and figures on the way out. */
import type { MessagePort } from 'node:worker_threads';
import type { JobOptionValues } from './options/job-options.ts';
import type { LoadOptionValues } from './options/load-options.ts';
import type { Sampling } from './options/sampling-options.ts';
import type { ProviderUse } from './step-reader.ts';

export type { EngineOptions } from './options/engine-options.ts';
export type { Sampling } from './options/sampling-options.ts';
export type { EngineEvents, FinishReason, GenerationHandler, JobUsage, ProviderUse, TokenLogprob } from './step-reader.ts';

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

export interface LoadOptions extends LoadOptionValues {
  /** GGUF file (for a split model: its first part). */
  path: string;
  /** Projector GGUF for image input. */
  projectorPath?: string;
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
  /**
   * How much of a tool's schema its calls follow. `json`: all; `tagged`: arguments one by one, strings by the grammars that come with their schemas;
   * `free`: their names at most.
   */
  callArguments: 'json' | 'tagged' | 'free';
  supportsThinking: boolean;
  supportsVision: boolean;
  supportsAudio: boolean;
  /** Samples a second of the sounds that it hears; 0: none. */
  audioRate: number;
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
  /** Most tokens of one job, prompt and answer together, and of one text that is embedded; 0: there is no such context. */
  nEngineCtx?: number;
  nEmbedderCtx?: number;
  /** Layers that go to devices, where fewer of them fit than the model has. */
  nGpuLayers?: number;
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
  /** A GPU failed, and nothing is computed any more. */
  deviceFailed: boolean;
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
  /** Tokens that were chosen outside of steps, as their grammar takes longer than a step has time for. */
  lateRowsTotal: number;
  lastStepMs: number;
  /** Measured completion rate of jobs, per second; for Retry-After. */
  jobsPerSecond: number;
  estimates: EngineEstimates;
}

export interface EmbedderStats {
  /** It means what an engine's means. */
  deviceFailed: boolean;
  nQueued: number;
  nQueuedTokens: number;
  /** Measured completion rate of requests, per second; for Retry-After. 0 where nothing is known yet. */
  requestsPerSecond: number;
  /** A token in the last batch; 0 before the first. How many a batch may have beside other programs follows from it. */
  tokenMs: number;
}

/** What steers an engine, as it was measured; 0 where nothing is known yet. */
export interface EngineEstimates {
  /** A step that decodes and has no prompts. */
  decodeStepMs: number;
  /** One more token of a prompt at its beginning, and what each token in front of it adds. */
  prefillTokenMs: number;
  prefillTokenDepthMs: number;
  nComputeThreads: number;
  /** How long a compute thread polls for the others before it sleeps; 0 where that is not known. */
  computePollUs: number;
  /** Share of the time for which compute threads were ready to run and had no core. */
  computeQueuedShare: number;
  /** Copies of KV states between sequences and host memory, and reads from disk. */
  kvCopyBytesPerMs: number;
  kvDiskBytesPerMs: number;
  /** Decoding time that drafts may still lose; at 0 and below nothing is drafted. */
  draftAllowanceMs: number;
  /** Share of drafted tokens that turn out right, by the length of the repetition that they were found by, or of the draft model. */
  draftAcceptance: Readonly<Record<DraftKind, number>>;
}

export type DraftKind = 'ngram2' | 'ngram3' | 'ngram4' | 'ngram8' | 'ngram16' | 'model';

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

/** Native code gets no encoded files: whoever sent them would choose what its decoders read. */
export type DecodedMedia =
  /** Three bytes a pixel, RGB, row by row from the top. */
  | { kind: 'image'; width: number; height: number; pixels: Uint8Array | StagedBytes }
  /** Of one channel at the rate of ModelInfo.audioRate, four bytes a sample: floats in the machine's byte order. */
  | { kind: 'audio'; samples: Uint8Array | StagedBytes };

export interface GenerationJob extends JobOptionValues {
  /** Who pays: prefix-cache keys and fair shares are per tenant. */
  tenant: string;
  prompt: Prompt;
  /** In the order of the `image_url` and `input_audio` parts of the messages. */
  media?: DecodedMedia[];
  /** What the answer is, in the words that llama.cpp's converter follows. */
  jsonSchema?: Text;
  /** The same of the arguments of each tool, by its name; without it, what the tools themselves say. `x-strings` has grammars of strings. */
  toolSchemas?: Text;
  grammar?: string;
  stop?: string[];
  sampling?: Sampling;
  logitBias?: [token: number, bias: number][];
  loras?: { name: string; scale: number }[];
}

export interface EmbedOptions {
  /** Whose turn it is goes by what each tenant was served; the queue's bounds are per tenant too. */
  tenant: string;
  /** Nobody waits for the vectors: answers that are made on the same cores go first. */
  isBackground?: boolean;
  /** A text that is longer than the context is cut at its end; otherwise it is refused. */
  truncate?: boolean;
  /** Milliseconds after which it fails with deadline_exceeded. */
  timeoutMs?: number;
  /** What is left of the texts when it fires is not computed, and the call fails with its reason. */
  signal?: AbortSignal;
}

export interface EmbedResult {
  /** One vector of nEmbd floats for each input, in order, of length 1 unless the engine's embeddingNorm says otherwise. */
  vectors: Float32Array[];
  nTokens: number[];
  /** The inputs that were cut, by their places; absent where the model does not say. */
  truncated?: number[];
  /** Of vectors that were made elsewhere. */
  provider?: ProviderUse;
}

export interface RankResult {
  /** One relevance score for each document, in order; higher is more relevant. */
  scores: Float32Array;
  nTokens: number[];
  /** Of scores that were made elsewhere. */
  provider?: ProviderUse;
}

export interface SystemInfo {
  llamaVersion: string;
  ggmlVersion: string;
  devices: { name: string; description: string; kind: 'cpu' | 'gpu' | 'accelerator'; memoryBytes: number; freeBytes: number }[];
  /** Features that the loaded CPU backend uses, for example AVX2 or AVX512. */
  cpuFeatures: string[];
  /** Libraries for GPUs and the like that lie beside the addon, of whose devices none is used, and why. */
  unusedBackends: { file: string; reason: string }[];
  cuda: {
    /** What CUDA the driver can do and the library was built with, as CUDA counts: 12020 is 12.2. 0: not loaded. */
    driver: number;
    toolkit: number;
    /** Why a GPU failed last; empty: none did. */
    fault: string;
    /** A GPU failed for another reason than a lack of memory: none is used any more. */
    isLost: boolean;
  };
}
