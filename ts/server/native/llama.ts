/**
 * The typed binding to native/llama: models, generation engines and embedders.
 *
 * Lifetimes: close() is idempotent and explicit; a model outlives its engines because they hold it natively.
 * Threads: submit(), cancel(), pause() and resume() are synchronous and O(1); everything slow runs on native threads.
 */
import { receiveMessageOnPort } from 'node:worker_threads';
import type {
  EmbedderStats,
  EmbedOptions,
  EmbedResult,
  EngineLimits,
  EngineOptions,
  EngineStats,
  GenerationJob,
  LoadOptions,
  MemoryPlan,
  ModelInfo,
  Prompt,
  QueuedBytes,
  RankResult,
  StagedBytes,
  SystemInfo,
  Text,
} from './llama-shapes.ts';
import { loadAddon } from './load.ts';
import { NativeError } from './native-error.ts';
import { type EngineEvents, type GenerationHandler, StepReader } from './step-reader.ts';

export type * from './llama-shapes.ts';
export { NativeError };

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
  stats(): EmbedderStats;
  embed(inputs: (Text | Int32Array)[], options: RawEmbedOptions): Cancellable<EmbedResult>;
  rank(query: Text, documents: Text[], options: RawEmbedOptions): Cancellable<RankResult>;
  close(): Promise<void>;
}

type RawEmbedOptions = Omit<EmbedOptions, 'signal'>;

interface Cancellable<T> {
  result: Promise<T>;
  cancel(): void;
}

interface RawModel {
  info(): ModelInfo;
  tokenize(text: Text, addSpecial: boolean, parseSpecial: boolean): Promise<Int32Array>;
  detokenize(tokens: Int32Array, special: boolean): Promise<string>;
  renderChat(job: Extract<Prompt, { kind: 'chat' }>): Promise<{ prompt: string; tokens: Int32Array }>;
  countTokens(job: Extract<Prompt, { kind: 'chat' }>): Promise<number>;
  createEngine(options: EngineOptions & { draftModel?: RawModel }, onStep: (records: Buffer) => void): Promise<RawEngine>;
  createEmbedder(options: EngineOptions): Promise<RawEmbedder>;
  createSynthesizer(options: EngineOptions): Promise<RawSynthesizer>;
  planMemory(engine: EngineOptions, load: LoadOptions): Promise<MemoryPlan>;
  close(): Promise<void>;
}

interface RawSynthesizer {
  limits(): EngineLimits;
  sampleRate(): number;
  nWaiting(): number;
  /** Returns what cancels it. */
  start(options: UtteranceOptions, onEvent: (event: SpeechEvent) => void): () => void;
  close(): Promise<void>;
}

export interface UtteranceOptions {
  tenant: string;
  /** A sentence of at most 2,048 bytes. */
  text: string;
  /** A code, for example `de`, for models that are told it. */
  language?: string;
  /** Samples of one channel at the model's rate: whom it shall sound like; 30 seconds at most. */
  voice?: Float32Array;
  /** The same text, voice and seed give the same samples. */
  seed?: number;
  /** Nobody waits for it: others' work goes first. */
  isBackground?: boolean;
  timeoutMs?: number;
}

export interface SpeechEvent {
  /** Those since the event before. */
  samples: Int16Array;
  isLast: boolean;
  /** Why it was not spoken to its end; with the last event. */
  error?: NativeError;
}

/** Bytes that the addon holds until a job takes them. */
interface RawStagedBytes {
  append(bytes: Uint8Array): void;
}

/** What native/llama/bindings/addon.cpp registers. */
export interface LlamaAddon {
  StagedBytes: new (sizeBytes: number) => RawStagedBytes;
  systemInfo(): SystemInfo;
  startLoad(options: LoadOptions, onProgress: (fraction: number) => void): { model: Promise<RawModel>; abort(): void };
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
    const abort = () => load.abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return new LlamaModel(await load.model);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  async tokenize(text: Text, { addSpecial = true, parseSpecial = true } = {}): Promise<Int32Array> {
    return this.#raw.tokenize(text, addSpecial, parseSpecial);
  }

  async detokenize(tokens: Int32Array, { special = false } = {}): Promise<string> {
    return this.#raw.detokenize(tokens, special);
  }

  /** Renders messages with the chat template and tokenises them, without generating. */
  async renderChat(prompt: Extract<Prompt, { kind: 'chat' }>): Promise<{ prompt: string; tokens: Int32Array }> {
    return this.#raw.renderChat(prompt);
  }

  /** Tokens of the rendered messages. */
  async countTokens(prompt: Extract<Prompt, { kind: 'chat' }>): Promise<number> {
    return this.#raw.countTokens(prompt);
  }

  /**
   * A draft model guesses for this one in speculative decoding; throws NativeError draft_model_incompatible when their vocabularies
   * differ.
   */
  async createEngine(options: EngineOptions = {}, events: EngineEvents = {}, draftModel?: LlamaModel): Promise<LlamaEngine> {
    const reader = new StepReader((job) => raw.cancel(job), events);
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

  /** Throws NativeError unsupported where the model and its projector do not speak. */
  async createSynthesizer(options: EngineOptions = {}): Promise<LlamaSynthesizer> {
    return new LlamaSynthesizer(await this.#raw.createSynthesizer(options));
  }

  close(): Promise<void> {
    return this.#raw.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

export class LlamaSynthesizer {
  readonly limits: EngineLimits;
  readonly sampleRate: number;
  readonly #raw: RawSynthesizer;

  constructor(raw: RawSynthesizer) {
    this.#raw = raw;
    this.limits = raw.limits();
    this.sampleRate = raw.sampleRate();
  }

  /** Sentences that nobody speaks yet. */
  get nWaiting(): number {
    return this.#raw.nWaiting();
  }

  /** Queues a sentence, and returns what cancels it: the last event comes all the same. Throws NativeError queue_full, closed or invalid_argument. */
  start(options: UtteranceOptions, onEvent: (event: SpeechEvent) => void): () => void {
    return this.#raw.start(options, onEvent);
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

  /** Ends every job, with the reason where there is one, else with `closed`. */
  close(reason?: NativeError): Promise<void> {
    if (reason !== undefined) this.#reader.closeReason = reason;
    return this.#raw.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

class LlamaEmbedder {
  readonly limits: EngineLimits;
  readonly #raw: RawEmbedder;

  constructor(raw: RawEmbedder) {
    this.#raw = raw;
    this.limits = raw.limits();
  }

  stats(): EmbedderStats {
    return this.#raw.stats();
  }

  /**
   * Embeds texts or token ids; batches across callers. Throws NativeError context_length_exceeded naming the input, queue_full (with
   * retryAfterMs) or deadline_exceeded.
   */
  async embed(inputs: (Text | Int32Array)[], { signal, ...options }: EmbedOptions): Promise<EmbedResult> {
    return resultOf(this.#raw.embed(inputs, options), signal);
  }

  /** Scores documents against a query; needs a model whose pooling is 'rank'. Throws as embed() does. */
  async rank(query: Text, documents: Text[], { signal, ...options }: EmbedOptions): Promise<RankResult> {
    return resultOf(this.#raw.rank(query, documents, options), signal);
  }

  close(): Promise<void> {
    return this.#raw.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

async function resultOf<T>({ result, cancel }: Cancellable<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    return await result;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

/** Largest copy in one turn of the event loop, bytes. */
const pieceBytes = 1024 * 1024;

/**
 * Copies bytes to native memory in pieces, with turns of the event loop between them: a job takes them without a further copy.
 * Throws NativeError out_of_memory.
 */
export async function stageBytes(bytes: Uint8Array | QueuedBytes): Promise<StagedBytes> {
  const { StagedBytes: Staged } = loadAddon('llama') as LlamaAddon;
  const isQueued = !(bytes instanceof Uint8Array);
  const staged = new Staged(isQueued ? bytes.sizeBytes : bytes.length);
  let isFirst = true;
  for (const piece of isQueued ? queuedPieces(bytes) : piecesOf(bytes)) {
    if (!isFirst) await new Promise((resolve) => setImmediate(resolve));
    isFirst = false;
    staged.append(piece);
    // Frees the memory now. V8 would collect garbage for it, which holds the thread up.
    if (isQueued) (piece.buffer as ArrayBuffer).transfer(0);
  }
  return staged;
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

function* queuedPieces({ port }: QueuedBytes): Generator<Uint8Array> {
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) yield next.message as Uint8Array;
  port.close();
}

export function systemInfo(): SystemInfo {
  return (loadAddon('llama') as LlamaAddon).systemInfo();
}
