/** A conversation that an answer is stored in: what is asked, and what is stored of the answer. */

import type { FinishReason, JobUsage } from '../../../native/llama-shapes.ts';
import type { CutReason, StreamOwner } from '../resumable-streams/resumable-stream.ts';
import type { ToolEvent } from '../tools/tool-event.ts';

export interface ConversationQuestion {
  /** The id of a conversation of the caller. */
  readonly id: string;
  /** The text of the last user message. */
  readonly text: string;
  /** The id of the answer's message; undefined: any id will do. */
  readonly answerId?: string | undefined;
  /** A message of the conversation that the answer follows; undefined: the question is stored before it. */
  readonly parentId?: string | undefined;
}

export interface ConversationAnswer {
  readonly content: string;
  readonly model: string;
  /** Why the answer is only the part that was generated; undefined: it is whole. */
  readonly cutBy: CutReason | undefined;
  /** The facts that are stored beside the text, as `metadata` of the message. */
  readonly facts: AnswerFacts;
  readonly citations: readonly unknown[] | undefined;
}

/** A conversation that waits for an answer. Nothing of the question is stored before. */
export interface OpenConversation {
  readonly owner: StreamOwner;
  /** The key under which the conversation's files lie; undefined: it has none. */
  readonly filesKey: string | undefined;
  /** Resolves once both sides are on disk. Throws DomainErrors that the chat route declares. */
  store(answer: ConversationAnswer): Promise<void>;
  /** For a part that has no client to tell of a failure, which goes to the log. */
  storePart(answer: ConversationAnswer): Promise<void>;
}

/** The facts of an answer that are stored beside its text: how it ended, and what it took. */
interface AnswerFacts {
  readonly finish_reason?: FinishReason;
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly tokens_per_second?: number;
  readonly reasoning?: string;
  readonly tool_calls?: readonly { readonly name: string; readonly args: string }[];
  /** The node's own tools that ran, each in its last state. */
  readonly tool_events?: readonly ToolEvent[];
  /** Files of the knowledge bases that were asked which no search finds, as the answer names them. */
  readonly unindexed?: object;
}

interface AnswerParts {
  readonly finish: FinishReason | undefined;
  readonly usage: JobUsage | undefined;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[];
  readonly toolEvents?: readonly ToolEvent[] | undefined;
  readonly unindexed?: object | undefined;
}

export function answerFacts({ finish, usage, reasoning, toolCalls, toolEvents, unindexed }: AnswerParts): AnswerFacts {
  return {
    ...(finish !== undefined && { finish_reason: finish }),
    ...(usage !== undefined && {
      prompt_tokens: usage.nPromptTokens,
      completion_tokens: usage.nCompletionTokens,
      ...(usage.decodeMs > 0 && { tokens_per_second: (usage.nCompletionTokens * 1000) / usage.decodeMs }),
    }),
    ...(reasoning !== '' && { reasoning }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(({ name, arguments: args }) => ({ name, args })) }),
    ...(toolEvents !== undefined && { tool_events: toolEvents }),
    ...(unindexed !== undefined && { unindexed }),
  };
}
