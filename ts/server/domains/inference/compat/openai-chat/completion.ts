/** The body of a chat completion that is not streamed. */
import type { Answer, Choice } from '../../completion/answer-collector.ts';
import type { ChunkHead } from './chunk-encoder.ts';
import { chatLogprobs } from './logprobs.ts';
import { chatTimings, chatUsage } from './usage.ts';

export function chatCompletion(
  { id, created, model, fingerprint }: ChunkHead,
  { choices, usage }: Answer,
): Record<string, unknown> {
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    system_fingerprint: fingerprint,
    choices: choices.map((choice, index) => ({
      index,
      message: assistantMessage(choice),
      logprobs: choice.logprobs ? { content: chatLogprobs(choice.logprobs), refusal: null } : null,
      finish_reason: choice.finish,
    })),
    usage: chatUsage(usage),
    timings: chatTimings(usage),
  };
}

function assistantMessage({ content, reasoning, toolCalls }: Choice): Record<string, unknown> {
  return {
    role: 'assistant',
    content: content === '' && toolCalls.length > 0 ? null : content,
    refusal: null,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toolCallMember) }),
  };
}

function toolCallMember(call: { id: string; name: string; arguments: string }): Record<string, unknown> {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } };
}
