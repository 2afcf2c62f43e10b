/** Work that a node asks of another one: the shapes of the bodies, and errors as they travel. */
import type { DomainError } from '../../../platform/errors/domain-error.ts';
import {
  type CallOptions,
  type CompletionRequest,
  inferenceErrors,
  inferenceFailure,
  type ModelCard,
} from '../../inference/index.ts';
import type { WrittenError } from './called-record.ts';

/** The options of a call that the other node goes by. */
type SentOptions = Pick<CallOptions, 'tenant' | 'isBackground' | 'truncate' | 'timeoutMs' | 'conversation'>;

export interface CompletionWork {
  readonly model: string;
  readonly request: Pick<CompletionRequest, 'model' | 'needsTools' | 'needsVision' | 'needsAudio' | 'job'>;
  readonly options: SentOptions;
}

/** Work whose answer comes in one piece: the method of the backend, and what it takes between the card and the options. */
export interface WholeWork {
  readonly model: string;
  readonly method: WholeMethod;
  readonly arguments: readonly unknown[];
  readonly options: SentOptions;
}

export const wholeMethods = ['embed', 'rank', 'contextTokens', 'countTokens', 'tokenize', 'detokenize', 'contentHash'] as const;
export type WholeMethod = (typeof wholeMethods)[number];

/** A model as it is told of. */
export interface ReportedCard extends ModelCard {
  /** Millionths that a million tokens of prompts and of answers cost, of a provider. */
  readonly costs?: readonly [prompt: number, completion: number] | undefined;
}

/** The state of a node on SQLite, for a standby. */
export interface StateReport {
  readonly primary?: { readonly commit: number; readonly epoch: number; readonly promotions: number };
  readonly replica?: {
    readonly id: string;
    readonly commit: number;
    readonly syncedAt: number;
    readonly primaryCommit: number;
    readonly roles: readonly string[];
  };
}

/** A node as it tells of itself when it is asked. */
export interface NodeReport extends StateReport {
  readonly id: string;
  readonly cards: readonly ReportedCard[];
  readonly load: NodeLoad;
  /** Beginnings of prompts that it had last. */
  readonly prefixes: Int32Array;
}

/** A node's work for others, as it says with each report and in a field of each answer. */
export interface NodeLoad {
  /** Answers that are not over. */
  readonly nRunning: number;
  /** Tokens of prompts that are waited for or read, without what is in its cache. */
  readonly nQueuedTokens: number;
  /** Tokens of prompts that it reads in a second; 0: it has read none yet. */
  readonly tokensPerSecond: number;
}

export const LOAD_HEADER = 'x-svc-load';

export function writtenLoad({ nRunning, nQueuedTokens, tokensPerSecond }: NodeLoad): string {
  return [nRunning, nQueuedTokens, tokensPerSecond].map(Math.round).join(' ');
}

/** Undefined: it is none. */
export function readLoad(text: string | undefined): NodeLoad | undefined {
  const [, nRunning, nQueuedTokens, tokensPerSecond] = /^(\d{1,9}) (\d{1,12}) (\d{1,9})$/.exec(text ?? '') ?? [];
  if (nRunning === undefined) return undefined;
  return { nRunning: Number(nRunning), nQueuedTokens: Number(nQueuedTokens), tokensPerSecond: Number(tokensPerSecond) };
}

export function sentOptions({ tenant, isBackground, truncate, timeoutMs, conversation }: CallOptions, spentMs = 0): SentOptions {
  return {
    tenant,
    ...(isBackground !== undefined && { isBackground }),
    ...(truncate !== undefined && { truncate }),
    ...(conversation !== undefined && { conversation }),
    ...(timeoutMs !== undefined && { timeoutMs: Math.max(1, Math.round(timeoutMs - spentMs)) }),
  };
}

export function writtenError(thrown: unknown): WrittenError {
  const { code, sentence, param, retryAfterMs, extra } = inferenceFailure(thrown);
  return { code, sentence, extra, ...(param !== undefined && { param }), ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** An error of a code that this node does not know is a defect. */
export function readError({ code, sentence, param, retryAfterMs, extra }: WrittenError): DomainError {
  const known = typeof code === 'string' && inferenceErrors.hasCode(code) ? code : 'internal';
  return inferenceErrors.error(known, String(sentence), {
    ...(typeof param === 'string' && { param }),
    ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
    ...(typeof extra === 'object' && extra !== null && { extra }),
  });
}

/** Another node may take what this one refused so. */
const ELSEWHERE = new Set<string>([
  'node_lost',
  'queue_full',
  'model_not_found',
  'model_invalid',
  'model_loading',
  'model_unloading',
  'model_file_changed',
  'device_failed',
  'models_busy',
  'out_of_memory',
  'engine_unavailable',
  'cpu_lacks_avx2',
  'cpu_lacks_arm_extensions',
]);

export function mayTryElsewhere({ code }: DomainError): boolean {
  return ELSEWHERE.has(code);
}

export function nodeLost(model: string, why: string, cause?: unknown): DomainError {
  return inferenceErrors.error('node_lost', `The node that has ${model} is lost: ${why}.`, { cause, retryAfterMs: 2_000 });
}
