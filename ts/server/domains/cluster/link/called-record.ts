/** Records of an answer that are no text: calls of the sink, with their arguments, which are checked as they come from another node. */
import Type, { type TSchema } from 'typebox';
import { compileLazily } from '../../../platform/schema/compile-lazily.ts';
import type { CompletionSink, ReasoningDetail } from '../../inference/index.ts';

export type CalledRecord =
  | ['onStart', nPromptTokens: number, nCachedTokens: number, model?: string]
  | ['onReasoningDetail', choice: number, detail: ReasoningDetail]
  | ['onToolCall', choice: number, index: number, id: string, name: string]
  | ['onLogprobs', choice: number, tokens: Parameters<CompletionSink['onLogprobs']>[1]]
  | ['onFinish', choice: number, reason: Parameters<CompletionSink['onFinish']>[1], stopString: string]
  | ['onDone', usage: Parameters<CompletionSink['onDone']>[0]]
  | ['onError', error: WrittenError];

export interface WrittenError {
  readonly code: string;
  readonly sentence: string;
  readonly param?: string;
  readonly retryAfterMs?: number;
  readonly extra?: Record<string, unknown>;
}

/** No answer has so many tokens. */
const MOST_TOKENS = 2 ** 31;
const Count = Type.Integer({ minimum: 0, maximum: MOST_TOKENS });
const Ms = Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Choice = Type.Integer({ minimum: 0, maximum: 9_999 });
const Name = Type.String({ maxLength: 1_024 });
const Text = Type.String({ maxLength: 4 * 2 ** 20 });
const Bytes = Type.Refine(Type.Unknown(), (value) => Buffer.isBuffer(value));
const Token = { token: Type.Integer(), bytes: Bytes, logprob: Type.Union([Type.Number(), Type.Null()]) };

export const Provider = Type.Object({
  backend: Name,
  nReasoningTokens: Count,
  nCacheWrite5mTokens: Count,
  nCacheWrite1hTokens: Count,
  nAudioTokens: Count,
  nImageTokens: Count,
  costMicros: Type.Optional(Ms),
  currency: Name,
  isEstimated: Type.Boolean(),
});
const Usage = Type.Object({
  nPromptTokens: Count,
  nCachedTokens: Count,
  nCompletionTokens: Count,
  queueMs: Ms,
  prefillMs: Ms,
  decodeMs: Ms,
  nDraftedTokens: Count,
  nAcceptedTokens: Count,
  provider: Type.Optional(Provider),
});
const Detail = Type.Object({
  type: Name,
  text: Type.Optional(Text),
  signature: Type.Optional(Text),
  data: Type.Optional(Text),
});
const Failure = Type.Object({
  code: Name,
  sentence: Type.String({ maxLength: 10_000 }),
  param: Type.Optional(Name),
  retryAfterMs: Type.Optional(Ms),
  extra: Type.Optional(Type.Record(Name, Type.Unknown())),
});

const failure = compileLazily(Failure);

export function isWrittenError(value: unknown): value is WrittenError {
  return failure.Check(value);
}

const CALLS: Readonly<Record<string, readonly TSchema[]>> = {
  onStart: [Count, Count, Type.Optional(Name)],
  onReasoningDetail: [Choice, Detail],
  onToolCall: [Choice, Count, Name, Name],
  onLogprobs: [Choice, Type.Array(Type.Object({ ...Token, top: Type.Array(Type.Object(Token), { maxItems: 100 }) }))],
  onFinish: [Choice, Type.Enum(['stop', 'length', 'tool_calls', 'content_filter']), Text],
  onDone: [Usage],
  onError: [Failure],
};
const checks = new Map(
  Object.entries(CALLS).map(([name, given]) => [name, given.map((schema) => compileLazily(schema))] as const),
);

/** Arguments beyond those that are known, of a later version, are not looked at. */
export function isCalledRecord(value: unknown): value is CalledRecord {
  if (!Array.isArray(value)) return false;
  const [name, ...given] = value as unknown[];
  const known = checks.get(name as string);
  return known?.every((check, i) => (i >= given.length && name === 'onStart' && i === 2) || check.Check(given[i])) === true;
}
