/** A gathered answer -> an Anthropic message, and the words that both forms share. */

import type { FinishReason, JobUsage } from '../../../../native/llama-shapes.ts';
import type { Answer, Choice } from '../../answer/answer-collector.ts';
import { completionError } from '../../errors.ts';
import type { ToolEvent } from '../../tools/tool-event.ts';
import { blockId, callBlocks, serverToolUse } from './server-tools.ts';

export interface StopMembers {
  stop_reason: 'end_turn' | 'max_tokens' | 'tool_use' | 'stop_sequence' | 'refusal';
  stop_sequence: string | null;
}

export function stopMembers(finish: FinishReason, stopString: string): StopMembers {
  if (finish === 'tool_calls') return { stop_reason: 'tool_use', stop_sequence: null };
  if (finish === 'content_filter') return { stop_reason: 'refusal', stop_sequence: null };
  if (finish === 'length') return { stop_reason: 'max_tokens', stop_sequence: null };
  return stopString === ''
    ? { stop_reason: 'end_turn', stop_sequence: null }
    : { stop_reason: 'stop_sequence', stop_sequence: stopString };
}

/** Anthropic's input_tokens leave out what came from the cache. */
export function anthropicUsage(
  {
    nPromptTokens,
    nCachedTokens,
    nCompletionTokens,
    provider,
  }: Pick<JobUsage, 'nPromptTokens' | 'nCachedTokens' | 'nCompletionTokens' | 'provider'>,
  events: readonly Pick<ToolEvent, 'tool'>[] = [],
): Record<string, unknown> {
  const nWritten = provider === undefined ? 0 : provider.nCacheWrite5mTokens + provider.nCacheWrite1hTokens;
  return {
    input_tokens: nPromptTokens - nCachedTokens - nWritten,
    cache_creation_input_tokens: nWritten,
    cache_read_input_tokens: nCachedTokens,
    output_tokens: nCompletionTokens,
    ...unmeasured,
    server_tool_use: serverToolUse(events),
  };
}

/** Members that the client's types require of each usage, and that nothing here stands for. */
const unmeasured = {
  cache_creation: null,
  inference_geo: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: null,
  speed: null,
};

/** A message without what changes on the way: the whole answer begins with it, and the first event of a stream. */
export function messageHead(id: string, model: string): Record<string, unknown> {
  return { id, type: 'message', role: 'assistant', model, container: null, diagnostics: null, stop_details: null };
}

export function anthropicMessage(
  id: string,
  chosen: string,
  { choices, usage, model = chosen, toolEvents = [] }: Answer,
  omitsThinking = false,
): Record<string, unknown> {
  const [choice] = choices;
  if (!choice) throw completionError('internal', 'The engine ended without an answer.');
  const { stop_reason, stop_sequence } = stopMembers(choice.finish, choice.stopString);
  return {
    ...messageHead(id, model),
    content: contentBlocks(choice, omitsThinking, toolEvents),
    stop_reason,
    stop_sequence,
    usage: anthropicUsage(usage, toolEvents),
  };
}

function contentBlocks(
  { content, reasoning, reasoningDetails, toolCalls }: Choice,
  omitsThinking: boolean,
  toolEvents: readonly ToolEvent[],
): Record<string, unknown>[] {
  const thinkingBlock = (text: string, signature = '') => ({ type: 'thinking', thinking: omitsThinking ? '' : text, signature });
  const blocks: Record<string, unknown>[] = (reasoningDetails ?? []).map(({ text = '', signature, data }) =>
    data === undefined ? thinkingBlock(text, signature) : { type: 'redacted_thinking', data },
  );
  // The engine's thinking comes unsigned: nothing here checks a signature when it is sent back.
  if (reasoningDetails === undefined && reasoning !== '') blocks.push(thinkingBlock(reasoning));
  for (const event of toolEvents) {
    const { use, result } = callBlocks(event, blockId(event));
    blocks.push(use, ...(result === undefined ? [] : [result]));
  }
  if (content !== '') blocks.push(textBlock(content));
  for (const { id, name, arguments: text } of toolCalls) blocks.push(toolUseBlock(id, name, parseInput(text)));
  return blocks;
}

export function textBlock(text: string): Record<string, unknown> {
  return { type: 'text', text, citations: null };
}

/** The model calls it, and no code that runs on the server. */
export function toolUseBlock(id: string, name: string, input: unknown): Record<string, unknown> {
  return { type: 'tool_use', id, name, input, caller: { type: 'direct' } };
}

/** A call that was cut by the token limit has half of its JSON; its input then shows as text. */
function parseInput(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { _incomplete: text };
  }
}
