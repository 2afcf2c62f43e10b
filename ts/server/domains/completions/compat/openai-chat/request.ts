/** POST /v1/chat/completions, checked by its schema -> the internal request. */
import { textFault } from '../../../../platform/text/given-text.ts';
import type { CompletionRequest } from '../../../inference/index.ts';
import type { ConversationCall, KnowledgeCall } from '../../answer/pending-answer.ts';
import { invalid } from '../../errors.ts';
import { type AnswerFormat, chatSchema, readFormat, withEngineFormat } from '../answer-format.ts';
import { readLogitBias, readLoras, readPriority, readSampling, readSpeculation, readStop } from '../engine-members.ts';
import { SchemaReader } from '../json-schema.ts';
import { asList, asMembers, asText, type Members, omitNullish } from '../members.ts';
import { messageText } from '../message-text.ts';
import {
  type FunctionTool,
  forceFunctions,
  forceOne,
  plainChoice,
  promptThinking,
  promptTools,
  readFunction,
  refuseDuplicates,
  type ToolUse,
} from '../tools.ts';
import { readAnswer } from './conversation-answer.ts';
import { readMessages } from './messages.ts';
import type { ChatRequest } from './schema.ts';

export interface ChatCall {
  request: CompletionRequest;
  stream: boolean;
  includeUsage: boolean;
  /** For an answer from knowledge bases: its messages, which wait for the passages. The prompt's own are then empty. */
  knowledge?: KnowledgeCall;
  /** The conversation of the caller that both sides are stored in. */
  conversation?: ConversationCall;
}

export function readChatRequest(body: ChatRequest): ChatCall {
  const { messages, media } = readMessages(body.messages);
  const namespaces = [...new Set(body.knowledge ?? [])];
  const { use, format } = readForm(body);
  const needsTools = use.tools.length > 0 && use.choice !== 'none';
  const job = omitNullish<CompletionRequest['job']>({
    prompt: {
      kind: 'chat',
      messagesJson: namespaces.length > 0 ? '[]' : JSON.stringify(messages),
      ...promptTools(use, body.parallel_tool_calls),
      ...promptThinking(body.reasoning_effort, body.chat_template_kwargs),
    },
    ...format,
    media: media.parts.length > 0 ? media.parts : undefined,
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
    request: { model: body.model, needsTools, needsVision: media.hasImages, needsAudio: media.hasSounds, job },
    stream: body.stream ?? false,
    includeUsage: readIncludeUsage(body),
    ...(namespaces.length > 0
      ? { knowledge: { namespaces, messages, fallback: body.knowledge_fallback === 'model' ? 'model' : 'none' } }
      : {}),
    ...readConversation(body, messages),
  };
}

/** What the answer may be. Most requests say nothing of it. */
function readForm(body: ChatRequest): { use: ToolUse; format: AnswerFormat } {
  const isFree = !body.tools?.length && !body.tool_choice && !body.response_format && !body.json_schema && !body.grammar;
  if (isFree) return { use: { tools: [], choice: 'auto' }, format: {} };
  const schemas = new SchemaReader();
  return { use: readToolUse(body.tools, body.tool_choice, schemas), format: readChatFormat(body, schemas) };
}

function readConversation(body: ChatRequest, messages: readonly Members[]): Pick<ChatCall, 'conversation'> {
  const { conversation_id: id, conversation_answer: answer, resumable } = body;
  if (id === undefined || id === null) {
    if (answer)
      throw invalid('conversation_answer', 'conversation_answer needs conversation_id: it says how the answer is stored there.');
    if (resumable) throw notResumable();
    return {};
  }
  const fault = textFault(id);
  if (fault !== undefined) throw invalid('conversation_id', `conversation_id ${fault}.`);
  if (resumable && !body.stream) throw notResumable();
  const last = messages.findLast(({ role }) => role === 'user');
  if (last === undefined)
    throw invalid('conversation_id', 'conversation_id needs a user message in messages: it is what is stored beside the answer.');
  const text = messageText(last['content']);
  return { conversation: { id, text, answer: readAnswer(answer ?? {}), isResumable: resumable ?? false } };
}

function notResumable() {
  return invalid(
    'resumable',
    'resumable needs stream: true and conversation_id: a stream that nobody resumes ends in the conversation.',
  );
}

function readChatFormat(body: ChatRequest, schemas: SchemaReader): AnswerFormat {
  const format = body.response_format ? readFormat(body.response_format, chatSchema, 'response_format', schemas) : {};
  return withEngineFormat(format, body, 'response_format', schemas);
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

function readToolUse(
  tools: readonly unknown[] | null | undefined,
  choice: string | Members | null | undefined,
  schemas: SchemaReader,
): ToolUse {
  const read = (tools ?? []).map((tool, index) => readTool(asMembers(tool, `tools[${index}]`), `tools[${index}]`, schemas));
  refuseDuplicates(read, 'tools');
  if (choice === undefined || choice === null) return { tools: read, choice: 'auto' };
  return typeof choice === 'string' ? plainChoice(choice, read, 'tool_choice') : objectChoice(choice, read);
}

function readTool(tool: Members, param: string, schemas: SchemaReader): FunctionTool {
  if (tool['type'] !== 'function')
    throw invalid(`${param}.type`, `${param}.type must be function; this server runs no other tools.`);
  return readFunction(asMembers(tool['function'], `${param}.function`), `${param}.function`, schemas);
}

function objectChoice(choice: Members, tools: FunctionTool[]): ToolUse {
  if (choice['type'] === 'function') {
    return forceOne(tools, chosenName(choice, 'tool_choice'));
  }
  if (choice['type'] === 'allowed_tools') {
    const allowed = asMembers(choice['allowed_tools'], 'tool_choice.allowed_tools');
    const names = asList(allowed['tools'], 'tool_choice.allowed_tools.tools').map((tool, index) =>
      chosenName(asMembers(tool, `tool_choice.allowed_tools.tools[${index}]`), `tool_choice.allowed_tools.tools[${index}]`),
    );
    return forceFunctions(tools, names, allowed['mode'] === 'required' ? 'required' : 'auto', 'tool_choice');
  }
  throw invalid('tool_choice.type', 'tool_choice.type must be function or allowed_tools.');
}

function chosenName(choice: Members, param: string): string {
  return asText(asMembers(choice['function'], `${param}.function`)['name'], `${param}.function.name`);
}
