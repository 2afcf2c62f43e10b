/** POST /v1/chat/completions, checked by its schema -> the internal request. */
import type { GenerationJob } from '../../../../native/llama.ts';
import type { CompletionRequest } from '../../backend.ts';
import { invalid } from '../../errors.ts';
import { type AnswerFormat, chatSchema, readFormat, schemaText } from '../answer-format.ts';
import { omitNullish } from '../members.ts';
import { readLogitBias, readLoras, readSampling, readStop } from '../sampling.ts';
import { readPriority } from '../service-tier.ts';
import { readSpeculation } from '../speculation.ts';
import type { ToolUse } from '../tools.ts';
import { readMessages } from './messages.ts';
import type { ChatRequest } from './schema.ts';
import { readToolUse } from './tools.ts';

export interface ChatCall {
  request: CompletionRequest;
  stream: boolean;
  includeUsage: boolean;
}

export function readChatRequest(body: ChatRequest): ChatCall {
  const { messages, media } = readMessages(body.messages);
  const use = readToolUse(body.tools, body.tool_choice);
  const needsTools = use.tools.length > 0 && use.choice !== 'none';
  const job = omitNullish<CompletionRequest['job']>({
    prompt: {
      kind: 'chat',
      messagesJson: JSON.stringify(messages),
      ...promptTools(use, body.parallel_tool_calls),
      ...promptThinking(body.reasoning_effort, body.chat_template_kwargs),
    },
    ...readChatFormat(body),
    media: media.images.length > 0 ? media.images : undefined,
    maxTokens: body.max_completion_tokens ?? body.max_tokens,
    n: body.n,
    stop: readStop(body.stop),
    sampling: readSampling(body),
    logitBias: readLogitBias(body.logit_bias),
    topLogprobs: readTopLogprobs(body),
    loras: readLoras(body.lora),
    cachePrompt: body.cache_prompt,
    priority: readPriority(body.service_tier),
    ...readSpeculation(body),
  });
  return {
    request: { model: body.model, needsTools, needsVision: media.images.length > 0, job },
    stream: body.stream ?? false,
    includeUsage: readIncludeUsage(body),
  };
}

type ChatPromptPart = Partial<Extract<GenerationJob['prompt'], { kind: 'chat' }>>;

export function promptTools({ tools, choice, isSingle }: ToolUse, parallel: boolean | null | undefined): ChatPromptPart {
  if (tools.length === 0) return {};
  const parallelToolCalls = isSingle ? false : (parallel ?? undefined);
  return {
    toolsJson: JSON.stringify(tools),
    toolChoice: choice,
    ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }),
  };
}

export function promptThinking(
  effort: string | null | undefined,
  kwargs: Record<string, unknown> | null | undefined,
): ChatPromptPart {
  const asked = effort === 'none' ? false : kwargs?.['enable_thinking'];
  return {
    ...(typeof asked === 'boolean' ? { enableThinking: asked } : {}),
    ...(kwargs ? { templateKwargsJson: JSON.stringify(kwargs) } : {}),
  };
}

function readChatFormat(body: ChatRequest): AnswerFormat {
  const format = body.response_format ? readFormat(body.response_format, chatSchema, 'response_format') : {};
  return withEngineFormat(format, body, 'response_format');
}

/** The engine's own members may state the format too, but only one of them all. */
export function withEngineFormat(
  format: AnswerFormat,
  own: { grammar?: string | null; json_schema?: Record<string, unknown> | null },
  param: string,
): AnswerFormat {
  const stated: AnswerFormat[] = [];
  if (format.jsonSchema !== undefined) stated.push(format);
  if (own.json_schema) stated.push({ jsonSchema: schemaText(own.json_schema, 'json_schema') });
  if (own.grammar) stated.push({ grammar: own.grammar });
  if (stated.length > 1) throw invalid(param, `Give only one of ${param}, json_schema and grammar.`);
  return stated[0] ?? {};
}

function readTopLogprobs(body: ChatRequest): number | undefined {
  const named = body.top_logprobs ?? undefined;
  if (named !== undefined && body.logprobs === false) throw invalid('top_logprobs', 'top_logprobs needs logprobs: true.');
  if (body.n_probs) return Math.max(body.n_probs, named ?? 0);
  if (named !== undefined && named > 0 && !body.logprobs) throw invalid('top_logprobs', 'top_logprobs needs logprobs: true.');
  return body.logprobs ? (named ?? 0) : undefined;
}

function readIncludeUsage(body: ChatRequest): boolean {
  const asked = body.stream_options?.['include_usage'];
  if (asked !== undefined && asked !== null && typeof asked !== 'boolean') {
    throw invalid('stream_options.include_usage', 'stream_options.include_usage must be a boolean.');
  }
  return asked ?? false;
}
