/**
 * A kind of provider is pure functions without I/O, from our request to its own, from its frames to records, and from its refusals to ours.
 * The attempts, the timers and the keys are the same for all kinds and lie outside.
 */
import type { FinishReason, TokenLogprob } from '../../../native/llama-shapes.ts';
import type { ReasoningDetail } from '../../inference/index.ts';
import type { ChatCall } from './chat-call.ts';

export const KIND_NAMES = ['openai', 'azure', 'anthropic', 'gemini', 'bedrock', 'ollama'] as const;
export type KindName = (typeof KIND_NAMES)[number];

/** Servers that speak OpenAI's API and take more than OpenAI does. */
export const PRESETS = ['openai', 'openrouter', 'vllm', 'sglang', 'llama-server', 'svc'] as const;
export type Preset = (typeof PRESETS)[number];

/** The facts that a kind needs to know of a backend. */
export interface KindOptions {
  readonly preset: Preset;
  /** Of Azure. */
  readonly apiVersion: string;
  /** Of Bedrock. */
  readonly region: string;
}

export interface ProviderRequest {
  readonly method?: 'GET' | 'POST';
  /** Behind the backend's base URL, beginning with a slash; with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON; undefined for none. */
  readonly body?: string;
}

/** Tokens as a provider reports them; a prompt's own include those that were read from and written to its cache. */
export interface ProviderTokens {
  nPromptTokens: number;
  nCompletionTokens: number;
  nCacheReadTokens: number;
  nCacheWrite5mTokens: number;
  nCacheWrite1hTokens: number;
  nReasoningTokens: number;
  nAudioTokens: number;
  nImageTokens: number;
}

/** Where a provider does not count, its tokens are estimated. */
export const BYTES_PER_TOKEN = 4;

export const NO_TOKENS: Readonly<ProviderTokens> = Object.freeze({
  nPromptTokens: 0,
  nCompletionTokens: 0,
  nCacheReadTokens: 0,
  nCacheWrite5mTokens: 0,
  nCacheWrite1hTokens: 0,
  nReasoningTokens: 0,
  nAudioTokens: 0,
  nImageTokens: 0,
});

export type ProviderRecord =
  | { readonly kind: 'content' | 'reasoning'; readonly choice: number; readonly text: string }
  | { readonly kind: 'detail'; readonly choice: number; readonly detail: ReasoningDetail }
  | { readonly kind: 'call'; readonly choice: number; readonly index: number; readonly id: string; readonly name: string }
  | { readonly kind: 'arguments'; readonly choice: number; readonly index: number; readonly text: string }
  | { readonly kind: 'logprobs'; readonly choice: number; readonly tokens: TokenLogprob[] }
  | { readonly kind: 'finish'; readonly choice: number; readonly reason: FinishReason; readonly stopString?: string }
  /** Later figures take the place of earlier ones. */
  | { readonly kind: 'usage'; readonly tokens: Partial<ProviderTokens> }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The provider's terminal event: without it an answer is not whole. */
  | { readonly kind: 'end' };

/** The meaning of a provider's refusal for the request and for the backend. */
export type RefusalMeaning =
  /** The request is at fault: it goes to the client as it is. */
  | 'request'
  /** The model is not there: others are asked, then it goes to the client. */
  | 'missing'
  /** The backend's credential or credit is at fault: it is left out until an administrator has looked. */
  | 'credential'
  | 'credit'
  | 'limit'
  /** It may go away by itself. */
  | 'passing';

export interface Refusal {
  readonly meaning: RefusalMeaning;
  /** 0: none was answered. */
  readonly status: number;
  /** The provider's own, without HTML. */
  readonly sentence: string;
  readonly retryAfterMs?: number | undefined;
  /** The prompt is too long for the model. */
  readonly isTooLong?: boolean;
}

/** One event of a provider's stream. */
export interface ProviderFrame {
  /** Of server-sent events and AWS's frames; the empty text where the framing has none. */
  readonly event: string;
  readonly data: string;
}

/** Reads the frames of one answer. */
export interface FrameReader {
  /** Throws a BrokenFrame for what cannot be read. */
  push(frame: ProviderFrame): ProviderRecord[];
}

export class BrokenFrame extends Error {
  override readonly name = 'BrokenFrame';
}

/** Vectors as providers send them, a list of numbers each. Throws BrokenFrame. */
export function readVectors(rows: readonly unknown[]): Float32Array[] {
  return rows.map((row) => {
    if (!Array.isArray(row) || !row.every((one) => typeof one === 'number'))
      throw new BrokenFrame('an embedding is no list of numbers');
    return Float32Array.from(row as number[]);
  });
}

/** A member that the kind cannot say to its provider. */
export class UnsupportedMember extends Error {
  override readonly name = 'UnsupportedMember';
  readonly member: string;

  constructor(member: string, sentence: string) {
    super(sentence);
    this.member = member;
  }
}

/** A model as a provider lists it. */
export interface ListedModel {
  readonly id: string;
  /** Of ours: chat, tools, vision, audio, thinking, embeddings, rerank. Undefined: the provider does not say. */
  readonly capabilities?: readonly string[] | undefined;
  readonly contextLength?: number | undefined;
}

export interface EmbeddingAnswer {
  readonly vectors: Float32Array[];
  readonly nTokens: number | undefined;
}

export interface RankAnswer {
  /** By the place of the document. */
  readonly scores: Float32Array;
  readonly nTokens: number | undefined;
}

interface SignedRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly body: string;
  readonly now: Date;
}

export interface Kind {
  readonly framing: 'sse' | 'lines' | 'aws';
  /** Whether `base_url` carries a path such as /v1. */
  readonly hasPath: boolean;
  readonly needsKey: boolean;
  /** Fields that carry the key; only Bedrock's depend on the request. Throws an Error for a key of another form. */
  authorize(key: string, request: SignedRequest, options: KindOptions): Record<string, string>;
  /** Throws UnsupportedMember. */
  chat(call: ChatCall, options: KindOptions): ProviderRequest;
  reader(call: ChatCall): FrameReader;
  readonly models?: { request(options: KindOptions): ProviderRequest; read(body: unknown): ListedModel[] };
  readonly embeddings?: {
    request(model: string, inputs: readonly string[], options: KindOptions): ProviderRequest;
    read(body: unknown): EmbeddingAnswer;
  };
  readonly rerank?: {
    request(model: string, query: string, documents: readonly string[]): ProviderRequest;
    read(body: unknown, nDocuments: number): RankAnswer;
  };
}
