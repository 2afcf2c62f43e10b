/** A chat -> the body of OpenAI's chat completions. */
import type { Sampling } from '../../../../native/llama-shapes.ts';
import { attachedMedia, type ChatCall, type ChatMessage } from '../chat-call.ts';
import { type Json, jsonText } from '../json.ts';
import type { Preset, ProviderRequest } from '../kind.ts';
import { type MemberName, markOf, requireKnown, wireName } from '../members.ts';

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
  'adaptiveTarget',
  'adaptiveDecay',
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

/** Said to whatever speaks this API. */
const COMMON = [
  'choices',
  'logprobs',
  'bias',
  'schema',
  'effort',
  'singleCalls',
  'forcedCalls',
  'withheldCalls',
  'strictTools',
  'names',
  'sounds',
  'avif',
  'details',
  'systemMedia',
  'resultMedia',
] as const satisfies MemberName[];
const OF_ENGINES = [...COMMON, 'templates', 'marks'] as const satisfies MemberName[];
const OF_ENGINES_LIKE_OURS = [...OF_ENGINES, 'grammar', 'uncached', 'drafts'] as const satisfies MemberName[];

/** OpenAI itself caches every prefix, and knows no marks. */
const MEMBERS: Readonly<Record<Preset, readonly MemberName[]>> = {
  openai: [...COMMON, 'tier'],
  openrouter: [...COMMON, 'tier', 'marks', 'budget'],
  vllm: OF_ENGINES,
  sglang: OF_ENGINES,
  'llama-server': OF_ENGINES_LIKE_OURS,
  svc: [...OF_ENGINES_LIKE_OURS, 'tier'],
};

const isLlama = (preset: Preset): boolean => preset === 'llama-server' || preset === 'svc';

export function chatRequest(call: ChatCall, preset: Preset, path = '/chat/completions'): ProviderRequest {
  return { path, body: jsonText(chatBody(call, preset)) };
}

function chatBody(call: ChatCall, preset: Preset): Json {
  requireKnown(call, MEMBERS[preset], SAMPLERS[preset]);
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
    cache_prompt: isLlama(preset) ? call.cachePrompt : undefined,
    cache_control: call.cacheControl,
    service_tier: call.priority === 0 ? undefined : call.priority < 0 ? 'flex' : 'priority',
    'speculative.n_max': call.nDraftMax,
    'speculative.type': call.draftSource === undefined ? undefined : DRAFTS[call.draftSource],
    ...(preset === 'openai' || preset === 'openrouter' ? call.hints : {}),
  };
}

const DRAFTS = { any: undefined, none: 'none', ngram: 'ngram-simple', model: 'draft-simple' } as const;

/** OpenAI's reasoning models refuse the older name, and others do not know the newer one. */
function limitOf({ maxTokens }: ChatCall, preset: Preset): Json {
  return preset === 'openai' ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens };
}

function samplingOf({ sampling }: ChatCall, preset: Preset): Json {
  const named = Object.entries(sampling).map(([name, value]) => [samplerName(name, preset), value]);
  return Object.fromEntries(named) as Json;
}

function samplerName(name: string, preset: Preset): string {
  return name === 'repeatPenalty' && !isLlama(preset) ? 'repetition_penalty' : wireName(name);
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

function formatOf({ jsonSchema, schemaName, schemaDescription: description, isStrictSchema }: ChatCall): Json | undefined {
  if (jsonSchema === undefined) return undefined;
  const isAnyObject = schemaName === undefined && Object.keys(jsonSchema).length === 1 && jsonSchema['type'] === 'object';
  if (isAnyObject) return { type: 'json_object' };
  const named = { name: schemaName ?? 'answer', description, schema: jsonSchema, strict: isStrictSchema };
  return { type: 'json_schema', json_schema: named };
}

function thinkingOf({ enableThinking, thinkingBudget, templateKwargs, reasoningEffort }: ChatCall, preset: Preset): Json {
  if (preset === 'openrouter') {
    if (thinkingBudget !== undefined) return { reasoning: { max_tokens: thinkingBudget } };
    return enableThinking === undefined ? {} : { reasoning: { enabled: enableThinking } };
  }
  if (preset === 'openai') {
    if (enableThinking === undefined || reasoningEffort !== undefined) return {};
    return { reasoning_effort: enableThinking ? 'medium' : 'none' };
  }
  const kwargs = {
    // Servers of this kind may know it as a variable of the template alone.
    ...(reasoningEffort !== undefined && reasoningEffort !== 'none' && { reasoning_effort: reasoningEffort }),
    ...templateKwargs,
    ...(enableThinking !== undefined && { enable_thinking: enableThinking }),
  };
  return Object.keys(kwargs).length === 0 ? {} : { chat_template_kwargs: kwargs };
}

function messageOf(message: ChatMessage, call: ChatCall, preset: Preset): Json {
  const { role, name, reasoning_content, reasoning_details, tool_calls, tool_call_id } = message;
  const keepsThoughts = preset !== 'openai';
  return {
    role,
    content: contentOf(message, call),
    name,
    ...(keepsThoughts && { reasoning_content, reasoning_details }),
    tool_calls,
    tool_call_id,
  };
}

/** A mark behind the whole message stands at its last part. */
function contentOf(message: ChatMessage, call: ChatCall): ChatMessage['content'] {
  const { content } = message;
  const mark = markOf(message as unknown as Json);
  if (!Array.isArray(content)) return mark === undefined ? content : [{ type: 'text', text: content ?? '', cache_control: mark }];
  const parts = content.map((part) => partOf(part, call));
  return mark === undefined ? parts : parts.map((part, i) => (i === parts.length - 1 ? { ...part, cache_control: mark } : part));
}

function partOf(part: Json, call: ChatCall): Json {
  const mark = markOf(part);
  const marked = mark === undefined ? {} : { cache_control: mark };
  if (part['type'] === 'text') return { type: 'text', text: part['text'], ...marked };
  if (part['type'] === 'image_url') {
    const { url, detail } = part['image_url'] as Json;
    const image = attachedMedia(call, url);
    return { type: 'image_url', image_url: { url: `data:${image?.format};base64,${image?.base64}`, detail }, ...marked };
  }
  const sound = attachedMedia(call, (part['input_audio'] as Json)['data']);
  return { type: 'input_audio', input_audio: { data: sound?.base64, format: sound?.format }, ...marked };
}
