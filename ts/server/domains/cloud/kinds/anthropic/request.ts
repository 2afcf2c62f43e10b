/** A chat -> the body of Anthropic's Messages. */
import { attachedMedia, type ChatCall, type ChatMessage, describedSchema } from '../chat-call.ts';
import { type Json, jsonText } from '../json.ts';
import { type ProviderRequest, UnsupportedMember } from '../kind.ts';
import { type MemberName, markOf, requireKnown } from '../members.ts';
import { argumentsOf, signedThoughts, thinkingTokens } from '../thoughts.ts';

/** The API wants a limit, and a client may name none. */
const DEFAULT_MAX_TOKENS = 8192;
/** Fewer are refused. */
const LEAST_BUDGET = 1024;

const MEMBERS = [
  'marks',
  'schema',
  'effort',
  'budget',
  'singleCalls',
  'forcedCalls',
  'withheldCalls',
  'strictTools',
  'avif',
  'resultMedia',
] as const satisfies MemberName[];

export function chatRequest(call: ChatCall): ProviderRequest {
  requireKnown(call, MEMBERS, ['temperature', 'topP', 'topK']);
  // Thoughts are part of it, and leave that much for the answer.
  const maxTokens = call.maxTokens ?? DEFAULT_MAX_TOKENS + (thinkingTokens(call) ?? 0);
  const thinking = thinkingOf(call, maxTokens);
  const { temperature, topP, topK } = call.sampling;
  const body: Json = {
    model: call.model,
    max_tokens: maxTokens,
    system: systemOf(call),
    messages: messagesOf(call),
    stream: true,
    temperature,
    top_p: topP,
    top_k: topK === 0 ? undefined : topK,
    stop_sequences: call.stop.length === 0 ? undefined : call.stop,
    ...toolsOf(call),
    thinking,
    output_config: outputOf(call),
    cache_control: call.cacheControl,
  };
  return { path: '/v1/messages', headers: { 'anthropic-version': '2023-06-01' }, body: jsonText(body) };
}

/** An effort beside a budget is said by its own name; without one it stands for a budget. */
function outputOf(call: ChatCall): Json | undefined {
  const schema = describedSchema(call);
  const effort = call.thinkingBudget === undefined ? undefined : call.reasoningEffort;
  if (schema === undefined && effort === undefined) return undefined;
  return { ...(schema && { format: { type: 'json_schema', schema } }), effort };
}

function thinkingOf(call: ChatCall, maxTokens: number): Json | undefined {
  const budget = thinkingTokens(call);
  if (budget === undefined) return undefined;
  if (budget === 0) return { type: 'disabled' };
  // The provider judges the figure of the client itself.
  if (call.thinkingBudget !== undefined) return { type: 'enabled', budget_tokens: budget };
  // The budget is part of max_tokens and must be less.
  const tokens = Math.min(budget, maxTokens - 1);
  if (tokens >= LEAST_BUDGET) return { type: 'enabled', budget_tokens: tokens };
  const member = call.reasoningEffort === undefined ? 'thinking' : 'reasoning_effort';
  throw new UnsupportedMember(member, `thoughts in an answer of ${maxTokens} tokens; it needs more than ${LEAST_BUDGET}`);
}

function systemOf({ messages }: ChatCall): string | Json[] | undefined {
  const parts = messages
    .filter(({ role }) => role === 'system')
    .flatMap((message) => markedLast(textBlocks(message.content), message));
  if (parts.length === 0) return undefined;
  return parts.some((part) => part['cache_control'] !== undefined) ? parts : parts.map((part) => part['text']).join('\n');
}

function textBlocks(content: ChatMessage['content']): Json[] {
  if (content === null || content === '') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map((part) => ({ type: 'text', text: part['text'], ...marked(part) }));
}

/** A mark behind the whole message stands at its last block. */
function markedLast(blocks: Json[], message: ChatMessage): Json[] {
  const mark = markOf(message as unknown as Json);
  return mark === undefined
    ? blocks
    : blocks.map((block, i) => (i === blocks.length - 1 ? { ...block, cache_control: mark } : block));
}

/** Results of tools stand in the user's turn, and turns of one role are one message. */
function messagesOf(call: ChatCall): Json[] {
  const messages: { role: string; content: Json[] }[] = [];
  for (const message of call.messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks = markedLast(blocksOf(message, call), message);
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else messages.push({ role, content: blocks });
  }
  return messages.filter(({ content }) => content.length > 0);
}

function blocksOf(message: ChatMessage, call: ChatCall): Json[] {
  if (message.role === 'tool') {
    const content = Array.isArray(message.content) ? message.content.map((part) => partOf(part, call)) : (message.content ?? '');
    return [{ type: 'tool_result', tool_use_id: message.tool_call_id, content }];
  }
  const parts = Array.isArray(message.content) ? message.content.map((part) => partOf(part, call)) : textBlocks(message.content);
  if (message.role !== 'assistant') return parts;
  const thoughts = signedThoughts(message).map(({ text, signature, data }) =>
    typeof data === 'string' ? { type: 'redacted_thinking', data } : { type: 'thinking', thinking: text ?? '', signature },
  );
  const calls = (message.tool_calls ?? []).map(({ id, function: target, cache_control }) => ({
    type: 'tool_use',
    id,
    name: target.name,
    input: argumentsOf(target.arguments),
    cache_control,
  }));
  return [...thoughts, ...parts, ...calls];
}

function partOf(part: Json, call: ChatCall): Json {
  if (part['type'] === 'text') return { type: 'text', text: part['text'], ...marked(part) };
  const image = attachedMedia(call, (part['image_url'] as Json)['url']);
  return { type: 'image', source: { type: 'base64', media_type: image?.format, data: image?.base64 }, ...marked(part) };
}

function marked(part: Json): Json {
  const mark = markOf(part);
  return mark === undefined ? {} : { cache_control: mark };
}

function toolsOf({ tools, toolChoice, parallelToolCalls }: ChatCall): Json {
  if (tools.length === 0) return {};
  const types = { auto: 'auto', required: 'any', none: 'none' } as const;
  const single = parallelToolCalls === false && toolChoice !== 'none' ? { disable_parallel_tool_use: true } : {};
  return {
    tools: tools.map(({ name, description, parameters, isStrict, cacheControl }) => ({
      name,
      description,
      input_schema: parameters,
      strict: isStrict || undefined,
      cache_control: cacheControl,
    })),
    tool_choice: { type: types[toolChoice], ...single },
  };
}
