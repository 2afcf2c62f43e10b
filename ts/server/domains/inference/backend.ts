/** A backend answers model requests: the local engine now; cloud providers and other nodes implement the same interface. */
import type {
  EmbedResult,
  EngineLimits,
  EngineStats,
  GenerationHandler,
  GenerationJob,
  ModelInfo,
  Prompt,
  RankResult,
  Text,
} from '../../native/llama-shapes.ts';
import type { DomainError } from '../../platform/errors/domain-error.ts';
import type { EncodedMedia } from './media/encoded-media.ts';
import type { ModelKind } from './models/model-source.ts';
import type { Abilities } from './probe/abilities.ts';
import type { MeteredTokens, UsageRecorder } from './usage/usage-recorder.ts';

export interface ModelCapabilities {
  chat: boolean;
  /** It has no chat template: it goes on with a text, and answers chats that name it as well as it can. */
  completion: boolean;
  tools: boolean;
  vision: boolean;
  audio: boolean;
  thinking: boolean;
  embeddings: boolean;
  rerank: boolean;
}

/** A file that is being inspected has the abilities of its kind for the time being; a remote model runs elsewhere. */
export type ModelState = 'inspecting' | 'unloaded' | 'loading' | 'loaded' | 'unloading' | 'unusable' | 'remote';

/** Whether a model that runs elsewhere can be asked now, as far as this node knows. */
export type ServingState = 'ok' | 'checking' | 'backend_unhealthy' | 'disabled';

export interface ServingReason {
  code: 'provider_rejected' | 'unreachable' | 'rate_limited';
  /** Of the provider's answer. */
  status?: number;
  /** ISO 8601, UTC. */
  since: string;
  /** The provider's sentence, without secrets. */
  detail: string;
}

/** One model of a backend and what it can do, loaded or not. A backend that runs elsewhere may not know what a model is made of. */
export interface ModelCard {
  id: string;
  kind: ModelKind;
  architecture?: string;
  family: string;
  capabilities: ModelCapabilities;
  /** Longest context that the model was trained for, tokens. */
  nCtxTrain?: number;
  /** Most tokens of one request, prompt and answer together, as the model is or will be loaded; undefined: as it was trained. */
  nCtxRequest?: number;
  sizeBytes?: number;
  nParams?: number;
  quantisation?: string;
  /** What its file calls itself. */
  title?: string;
  license?: string;
  /** Unix seconds. */
  createdAt: number;
  ownedBy: string;
  demonstration?: string;
  /** Undefined: it was not probed. */
  abilities?: Abilities;
  state: ModelState;
  /** Undefined: the model writes arguments of calls as JSON, or nobody knows. */
  callNotation?: CallNotation;
  /** Never unloaded to make room; undefined where the backend does not say. */
  isPinned?: boolean;
  /** Why the model cannot be used; present when state is 'unusable'. */
  unusable?: string;
  /** Of a remote model: the backends that have it, the first of them first. Such a model never stands in for another. */
  backend?: string;
  /** The names of the other nodes of the cluster that have it, where this one does not. */
  nodes?: readonly string[];
  servingState?: ServingState;
  servingReason?: ServingReason;
  /** Money for a million tokens, as decimal strings, with its currency, source and date. */
  prices?: Readonly<Record<string, string>>;
  /** Millionths that so many tokens cost; undefined: nobody knows. */
  costOf?: (nPromptTokens: number, nCompletionTokens: number) => number | undefined;
  /** The tenants that may use it; undefined: all. */
  tenants?: readonly string[];
}

/**
 * How a model writes the arguments of calls that is not one JSON object. `tagged`: one by one, as JSON but for strings, which stand as they are.
 * `free`: so that their schemas are not followed.
 */
export type CallNotation = 'tagged' | 'free';

/** The facts that a loaded model reports about itself. */
export interface ModelDetail {
  card: ModelCard;
  /** 0 to 1 while state is 'loading'. */
  loadProgress?: number;
  nJobs: number;
  pinned: boolean;
  memoryBytes?: number;
  /** The part of it that lies on GPUs, and its layers there, the output as one more. */
  deviceBytes?: number;
  nGpuLayers?: number;
  /** The memory that it takes, or would take, by prediction. */
  predictedBytes?: number;
  /** Unix milliseconds of the last request. */
  lastUsedAt?: number;
  info?: ModelInfo;
  limits?: EngineLimits;
  stats?: EngineStats;
}

/** A request that every backend understands; the compat folder makes it from each foreign wire shape. */
export interface CompletionRequest {
  /** The model's name as the client wrote it. */
  model: string;
  /** It has tools that the model may call, or must. */
  needsTools: boolean;
  needsVision: boolean;
  needsAudio: boolean;
  /** The reason why its tools were left out, if they were. */
  toolsIgnored?: 'unsupported' | 'too_long';
  /** True: the model says nothing, and the answer is what is put around its words. */
  isSilenced?: (card: ModelCard) => boolean;
  /** Keywords of its schemas that are not followed, and where they stand. */
  schemaIgnored?: string;
  /** Why an engine of this node refuses its schemas. */
  schemaRefusal?: SchemaRefusal;
  /** The same for models that write arguments of calls in such a notation. */
  byNotation?: Partial<Record<CallNotation, { schemaIgnored: string; refusal?: SchemaRefusal }>>;
  /** What only a model that runs elsewhere makes use of. */
  provider?: ProviderMembers;
  job: Omit<GenerationJob, 'tenant' | 'media'> & {
    /** The images and sounds, in the order of their parts of the messages. */
    media?: EncodedMedia[];
  };
}

/** An error as plain data. */
export interface SchemaRefusal {
  code: string;
  sentence: string;
  param: string | undefined;
  extra: Record<string, unknown>;
}

export interface ProviderMembers {
  /** As the client wrote it, for example low, medium or high. */
  reasoningEffort?: string;
  /** Most tokens of thoughts, as Anthropic's clients say it. */
  thinkingBudget?: number;
  /** The JSON schema of the answer as the client wrote it; `jsonSchema` of the job is in the engine's words. */
  jsonSchema?: string;
  /** Of a JSON schema: the name and the description that the client gave it, and whether the answer must follow it to the letter. */
  schemaName?: string;
  schemaDescription?: string;
  isStrictSchema?: boolean;
  /** A mark of the prompt cache for the whole request, as Anthropic's clients send it. */
  cacheControl?: Record<string, unknown>;
  /** Members of OpenAI's API that change no answer. */
  hints?: Record<string, string>;
}

/** Hears one completion. Text arrives as bodies of JSON strings, valid only during the call. */
export interface CompletionSink extends Required<GenerationHandler> {
  /** `model`: what answers in fact, where that is another name than the card's. */
  onStart(nPromptTokens: number, nCachedTokens: number, model?: string): void;
  /** Signed or hidden thoughts, as the provider gave them: they come back untouched in the next turn. */
  onReasoningDetail(choice: number, detail: ReasoningDetail): void;
  onError(error: Error): void;
  /** Whether parts of the answer reach the client before its end. */
  readonly isStreamed: boolean;
  /** Called once, before anything else is heard: the sink passes on to `usage` what it hears. */
  begin(usage: UsageRecorder): void;
}

/** One block of thoughts of a provider's answer. */
export interface ReasoningDetail {
  type: string;
  text?: string;
  signature?: string;
  /** Of thoughts that the provider hides. */
  data?: string;
}

/** A job in the hands of a backend. Every call is synchronous, idempotent and cheap. */
export interface RunningCompletion {
  /** Stops the work; the sink hears nothing more. */
  cancel(): void;
  /** Stops decoding for this job alone until resume(). */
  pause(): void;
  resume(): void;
}

export interface BackendCompletion extends RunningCompletion {
  /** The completion is over, however it ended: frees what the backend holds for it. Idempotent. */
  release(): void;
  /**
   * Of a backend whose texts hold many tokens each: what an answer that ends now has used, of which `nTextBytes` were said. Undefined: nothing
   * was asked of anybody.
   */
  used?(nTextBytes: number): MeteredTokens | undefined;
  /** Resolves when what was cancelled is read to its end for its exact figures; undefined: nothing is read any more. */
  whenDrained?(): Promise<void> | undefined;
}

export interface CallOptions {
  tenant: string;
  /** Account and API key for which the work is metered. */
  user?: string | undefined;
  key?: string | undefined;
  /** Adds a field to the head of the answer. */
  announce?: ((name: string, value: string) => void) | undefined;
  signal: AbortSignal;
  /** The answers of one conversation go to one backend, for its prompt cache. */
  conversation?: string | undefined;
  /** Whether the caller may know which backend answers, and after how many attempts. */
  seesBackends?: boolean;
  /** Texts that nobody waits for are embedded in turns of their own, beside those of the tenant's requests. */
  isBackground?: boolean;
  /** Texts that are longer than the model's context are embedded without their ends. */
  truncate?: boolean;
  /** Milliseconds until the caller gives up. */
  timeoutMs?: number;
}

export type ChatPrompt = Extract<Prompt, { kind: 'chat' }>;

export interface InferenceBackend {
  /** Why this backend can answer nothing at all, if so; or why a model that no backend is known to have may be here after all. */
  unavailableReason(missing?: string): DomainError | undefined;
  /** The cards that the calls below take. Only what is needed to tell whether the one that is asked for can answer is waited for. */
  models(asked?: string): Promise<ModelCard[]>;
  /** Resolves when the job is queued; later failures arrive at sink.onError. */
  complete(card: ModelCard, request: CompletionRequest, sink: CompletionSink, options: CallOptions): Promise<BackendCompletion>;
  embed(card: ModelCard, inputs: (Text | Int32Array)[], options: CallOptions): Promise<EmbedResult>;
  rank(card: ModelCard, query: Text, documents: Text[], options: CallOptions): Promise<RankResult>;
  /** Of one request, prompt and answer together, as the model is loaded; without it the model's own context counts. */
  contextTokens?(card: ModelCard, options: CallOptions): Promise<number>;
  countTokens(card: ModelCard, prompt: ChatPrompt, options: CallOptions): Promise<number>;
  tokenize(card: ModelCard, text: Text, flags: TokenizeFlags, options: CallOptions): Promise<Int32Array>;
  detokenize(card: ModelCard, tokens: Int32Array, options: CallOptions): Promise<string>;
  /** SHA-256 of the model's file; absent where it has none here. */
  contentHash?(card: ModelCard, signal: AbortSignal): Promise<string>;
}

export interface TokenizeFlags {
  addSpecial: boolean;
  parseSpecial: boolean;
}

/** Models whose lifetime this node controls. */
export interface ModelControl {
  detail(id: string): Promise<ModelDetail | undefined>;
  /** Resolves when the model is ready. */
  load(id: string, signal: AbortSignal): Promise<void>;
  /** Refuses new jobs, waits for running ones (or ends them when forced), then frees the memory. */
  unload(id: string, options: { force: boolean }): Promise<void>;
  /** Requests that use the model or wait for it, without a look at the disk. */
  countJobs(id: string): number;
  /** The files have changed: the next look at them is a new one. */
  rescan(): void;
  /** A pinned model is never unloaded to make room, nor for being unused. */
  setPinned(id: string, isPinned: boolean): void;
}
