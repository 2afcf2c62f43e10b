/** What is kept of an answer beside its text: how it ended and what it took. */
import type { FinishReason, JobUsage } from '../../../native/llama-shapes.ts';

export interface AnswerFacts {
  readonly finish_reason?: FinishReason;
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly tokens_per_second?: number;
  readonly reasoning?: string;
  readonly tool_calls?: readonly { readonly name: string; readonly args: string }[];
  /** Files of the knowledge bases that were asked which no search finds, as the answer names them. */
  readonly unindexed?: object;
}

export interface AnswerParts {
  readonly finish: FinishReason | undefined;
  readonly usage: JobUsage | undefined;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[];
  readonly unindexed?: object | undefined;
}

export function answerFacts({ finish, usage, reasoning, toolCalls, unindexed }: AnswerParts): AnswerFacts {
  return {
    ...(finish !== undefined && { finish_reason: finish }),
    ...(usage !== undefined && {
      prompt_tokens: usage.nPromptTokens,
      completion_tokens: usage.nCompletionTokens,
      ...(usage.decodeMs > 0 && { tokens_per_second: (usage.nCompletionTokens * 1000) / usage.decodeMs }),
    }),
    ...(reasoning !== '' && { reasoning }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(({ name, arguments: args }) => ({ name, args })) }),
    ...(unindexed !== undefined && { unindexed }),
  };
}
