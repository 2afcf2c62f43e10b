/** A chat -> the body of OpenAI's chat completions. */
import type { Sampling } from '../../../../native/llama-shapes.ts';
import { attachedMedia, type ChatCall, type ChatMessage, requireKnownSampling } from '../chat-call.ts';
import { isObject, type Json, jsonText } from '../json.ts';
import { type Preset, type ProviderRequest, UnsupportedMember } from '../kind.ts';

/** OpenAI's own samplers, and those of others that speak its API. */
const OF_OPENAI = ['temperature', 'topP', 'frequencyPenalty', 'presencePenalty', 'seed'] as const satisfies (keyof Sampling)[];
const MORE = ['topK', 'minP', 'repeatPenalty'] as const satisfies (keyof Sampling)[];
const OF_LLAMA = [
  ...MORE,
  'typicalP',
  'repeatLastN',
  'dynatempRange',
  'dynatempExponent',
  'dryMultiplier',
  'dryBase',
  'dryAllowedLength',
  'dryPenaltyLastN',
  'drySequenceBreakers',
  'mirostat',
  'mirostatTau',
  'mirostatEta',
  'xtcProbability',
  'xtcThreshold',
  'topNSigma',
  'minKeep',
  'samplers',
  'ignoreEos',
] as const satisfies (keyof Sampling)[];

const SAMPLERS: Readonly<Record<Preset, readonly (keyof Sampling)[]>> = {
  openai: OF_OPENAI,
  openrouter: [...OF_OPENAI, ...MORE],
  vllm: [...OF_OPENAI, ...MORE, 'ignoreEos'],
  sglang: [...OF_OPENAI, ...MORE, 'ignoreEos'],
  'llama-server': [...OF_OPENAI, ...OF_LLAMA],
  svc: [...OF_OPENAI, ...OF_LLAMA],
};

const isLlama = (preset: Preset): boolean => preset === 'llama-server' || preset === 'svc';

export function chatRequest(call: ChatCall, preset: Preset, path = '/chat/completions'): ProviderRequest {
  return { path, body: jsonText(chatBody(call, preset)) };
}

function chatBody(call: ChatCall, preset: Preset): Json {
  requireKnownSampling(call.sampling, SAMPLERS[preset]);
  if (call.grammar !== undefined && !isLlama(preset)) throw new UnsupportedMember('grammar', 'a grammar');
  return {
    model: call.model,
    messages: call.messages.map((message) => messageOf(message, call, preset)),
    stream: true,
    stream_options: { include_usage: true },
    ...limitOf(call, preset),
    n: call.n === 1 ? undefined : call.n,
    stop: call.stop.length === 0 ? undefined : call.stop,
    ...samplingOf(call, preset),
    logit_bias: call.logitBias === undefined ? undefined : Object.fromEntries(call.logitBias),
    ...(call.topLogprobs === undefined ? {} : { logprobs: true, top_logprobs: call.topLogprobs }),
    ...toolsOf(call),
    response_format: formatOf(call),
    grammar: call.grammar,
    reasoning_effort: call.reasoningEffort,
    ...thinkingOf(call, preset),
  };
}

/** OpenAI's reasoning models refuse the older name, and others do not know the newer one. */
function limitOf({ maxTokens }: ChatCall, preset: Preset): Json {
  return preset === 'openai' ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens };
}

function samplingOf({ sampling }: ChatCall, preset: Preset): Json {
  const named = Object.entries(sampling).map(([name, value]) => [wireName(name as keyof Sampling, preset), value]);
  return Object.fromEntries(named) as Json;
}

function wireName(name: keyof Sampling, preset: Preset): string {
  if (name === 'repeatPenalty' && !isLlama(preset)) return 'repetition_penalty';
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function toolsOf({ tools, toolChoice, parallelToolCalls }: ChatCall): Json {
  if (tools.length === 0) return {};
  const list = tools.map(({ name, description, parameters, isStrict, cacheControl }) => ({
    type: 'function',
    function: { name, description, parameters, strict: isStrict || undefined },
    cache_control: cacheControl,
  }));
  return { tools: list, tool_choice: toolChoice, parallel_tool_calls: parallelToolCalls };
}

function formatOf({ jsonSchema, schemaName, isStrictSchema }: ChatCall): Json | undefined {
  if (jsonSchema === undefined) return undefined;
  const isAnyObject = schemaName === undefined && Object.keys(jsonSchema).length === 1 && jsonSchema['type'] === 'object';
  if (isAnyObject) return { type: 'json_object' };
  return { type: 'json_schema', json_schema: { name: schemaName ?? 'answer', schema: jsonSchema, strict: isStrictSchema } };
}

function thinkingOf({ enableThinking, thinkingBudget, templateKwargs, reasoningEffort }: ChatCall, preset: Preset): Json {
  if (preset === 'openrouter') {
    if (thinkingBudget !== undefined) return { reasoning: { max_tokens: thinkingBudget } };
    return enableThinking === false ? { reasoning: { enabled: false } } : {};
  }
  if (preset === 'openai') {
    if (thinkingBudget !== undefined) throw new UnsupportedMember('thinking.budget_tokens', 'a budget of thoughts');
    if (templateKwargs !== undefined) throw new UnsupportedMember('chat_template_kwargs', 'members of a chat template');
    return enableThinking === false && reasoningEffort === undefined ? { reasoning_effort: 'none' } : {};
  }
  const kwargs = { ...templateKwargs, ...(enableThinking !== undefined && { enable_thinking: enableThinking }) };
  return Object.keys(kwargs).length === 0 ? {} : { chat_template_kwargs: kwargs };
}

/** OpenAI itself caches every prefix and knows no marks; OpenRouter and other nodes hand them on. */
function messageOf(message: ChatMessage, call: ChatCall, preset: Preset): Json {
  const { role, content, name, reasoning_content, reasoning_details, tool_calls, tool_call_id } = message;
  const keepsThoughts = preset !== 'openai';
  return {
    role,
    content: Array.isArray(content) ? content.map((part) => partOf(part, call, preset)) : content,
    name,
    ...(keepsThoughts && { reasoning_content, reasoning_details }),
    tool_calls,
    tool_call_id,
  };
}

function partOf(part: Json, call: ChatCall, preset: Preset): Json {
  const marked = isObject(part['cache_control']) && preset !== 'openai' ? { cache_control: part['cache_control'] } : {};
  if (part['type'] === 'text') return { type: 'text', text: part['text'], ...marked };
  if (part['type'] === 'image_url') {
    const image = attachedMedia(call, (part['image_url'] as Json)['url']);
    return { type: 'image_url', image_url: { url: `data:${image?.format};base64,${image?.base64}` }, ...marked };
  }
  const sound = attachedMedia(call, (part['input_audio'] as Json)['data']);
  return { type: 'input_audio', input_audio: { data: sound?.base64, format: sound?.format }, ...marked };
}
