/** What the local backend uses of native/llama.ts; tests put a scripted engine behind it. */
import {
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
  type RankResult,
  type SystemInfo,
  systemInfo,
} from '../../../native/llama.ts';
import type { ChatPrompt } from '../backend.ts';

export interface NativeEngine {
  readonly limits: EngineLimits;
  submit(job: GenerationJob, handler: GenerationHandler): number;
  cancel(id: number): void;
  pause(id: number): void;
  resume(id: number): void;
  stats(): EngineStats;
  close(): Promise<void>;
}

export interface NativeEmbedder {
  readonly limits: EngineLimits;
  embed(inputs: (string | Int32Array)[], options: EmbedOptions): Promise<EmbedResult>;
  rank(query: string, documents: string[], options: EmbedOptions): Promise<RankResult>;
  close(): Promise<void>;
}

export interface NativeModel {
  readonly info: ModelInfo;
  tokenize(text: string, options: { addSpecial: boolean; parseSpecial: boolean }): Promise<Int32Array>;
  detokenize(tokens: Int32Array, options: { special: boolean }): Promise<string>;
  renderChat(prompt: ChatPrompt): Promise<{ prompt: string; tokens: Int32Array }>;
  createEngine(options: EngineOptions, events?: EngineEvents, draftModel?: NativeModel): Promise<NativeEngine>;
  createEmbedder(options: EngineOptions): Promise<NativeEmbedder>;
  close(): Promise<void>;
}

export interface NativeBinding {
  /** Throws what loading the addon throws, for example an unsupported processor. */
  systemInfo(): SystemInfo;
  load(options: LoadOptions, hooks: { onProgress: (fraction: number) => void; signal: AbortSignal }): Promise<NativeModel>;
}

export const llamaBinding: NativeBinding = {
  systemInfo,
  load: (options, hooks) => LlamaModel.load(options, hooks),
};
