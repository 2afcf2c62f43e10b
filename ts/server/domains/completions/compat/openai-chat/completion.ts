/** The body of a chat completion that is not streamed. */
import type { Answer, Choice } from '../../answer/answer-collector.ts';
import type { WireCitations } from '../../knowledge/citations.ts';
import type { ChunkHead } from './chunk-encoder.ts';
import { chatLogprobs } from './logprobs.ts';
import { chatTimings, chatUsage } from './usage.ts';

/** The members that an answer from knowledge bases or with memories or log lines has in addition. */
interface FoundMembers {
  /** The citations of each choice; undefined: no knowledge base was asked. */
  readonly cited: readonly WireCitations[] | undefined;
  /** Members of the body. */
  readonly members: object;
}

export function chatCompletion(
  { id, created, model, fingerprint }: ChunkHead,
  { choices, usage, toolEvents, model: answered = model }: Answer,
  found?: FoundMembers,
): Record<string, unknown> {
  const cited = found?.cited;
  return {
    id,
    object: 'chat.completion',
    created,
    model: answered,
    system_fingerprint: fingerprint,
    choices: choices.map((choice, index) => ({
      index,
      message: assistantMessage(choice, cited?.[index]),
      logprobs: choice.logprobs ? { content: chatLogprobs(choice.logprobs), refusal: null } : null,
      finish_reason: choice.finish,
    })),
    ...(cited === undefined ? {} : { citations: allOf(cited) }),
    ...found?.members,
    ...(toolEvents === undefined ? {} : { tool_events: toolEvents }),
    usage: chatUsage(usage),
    timings: chatTimings(usage),
  };
}

/** Gathers the citations of all choices; a number stands for the same passage in each. */
function allOf(cited: readonly WireCitations[]): WireCitations['citations'] {
  const byNumber = new Map(cited.flatMap(({ citations }) => citations.map((citation) => [citation.n, citation] as const)));
  return [...byNumber.values()].sort((a, b) => a.n - b.n);
}

function assistantMessage(
  { content, reasoning, reasoningDetails, toolCalls }: Choice,
  cited?: WireCitations,
): Record<string, unknown> {
  return {
    role: 'assistant',
    content: content === '' && toolCalls.length > 0 ? null : content,
    refusal: null,
    ...(cited === undefined ? {} : { annotations: cited.annotations }),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(reasoningDetails === undefined ? {} : { reasoning_details: reasoningDetails }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toolCallMember) }),
  };
}

function toolCallMember(call: { id: string; name: string; arguments: string }): Record<string, unknown> {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } };
}
