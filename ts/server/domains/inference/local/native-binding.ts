/** The part of native/llama.ts that the local backend uses; tests put a scripted engine behind it. */
import {
  type EmbedderStats,
  type EmbedOptions,
  type EmbedResult,
  type EngineEvents,
  type EngineLimits,
  type EngineOptions,
  type EngineStats,
  type GenerationHandler,
  type GenerationJob,
  LlamaModel,
  type LoadOptions,
  type ModelInfo,
  type QueuedBytes,
  type RankResult,
  type StagedBytes,
  type SystemInfo,
  stageBytes,
  systemInfo,
  type Text,
} from '../../../native/llama.ts';
import type { NativeError } from '../../../native/native-error.ts';
import type { ChatPrompt } from '../backend.ts';

export interface NativeEngine {
  readonly limits: EngineLimits;
  submit(job: GenerationJob, handler: GenerationHandler): number;
  cancel(id: number): void;
  pause(id: number): void;
  resume(id: number): void;
  stats(): EngineStats;
  /** `reason`: what its jobs end with. */
  close(reason?: NativeError): Promise<void>;
}

export interface NativeEmbedder {
  readonly limits: EngineLimits;
  stats(): EmbedderStats;
  embed(inputs: (Text | Int32Array)[], options: EmbedOptions): Promise<EmbedResult>;
  rank(query: Text, documents: Text[], options: EmbedOptions): Promise<RankResult>;
  close(): Promise<void>;
}

export interface NativeModel {
  readonly info: ModelInfo;
  tokenize(text: Text, options: { addSpecial: boolean; parseSpecial: boolean }): Promise<Int32Array>;
  detokenize(tokens: Int32Array, options: { special: boolean }): Promise<string>;
  countTokens(prompt: ChatPrompt): Promise<number>;
  createEngine(options: EngineOptions, events?: EngineEvents, draftModel?: NativeModel): Promise<NativeEngine>;
  createEmbedder(options: EngineOptions): Promise<NativeEmbedder>;
  close(): Promise<void>;
}

export interface NativeBinding {
  /** Copies bytes to native memory in pieces, beside which streams go on. They can be used once. */
  stageBytes(bytes: Uint8Array | QueuedBytes): Promise<StagedBytes>;
  /** Throws what loading the addon throws, for example an unsupported processor. */
  systemInfo(): SystemInfo;
  load(options: LoadOptions, hooks: { onProgress: (fraction: number) => void; signal: AbortSignal }): Promise<NativeModel>;
}

export const llamaBinding: NativeBinding = {
  stageBytes,
  systemInfo,
  load: (options, hooks) => LlamaModel.load(options, hooks),
};
