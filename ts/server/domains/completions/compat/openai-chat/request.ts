/** Reads the body of POST /v1/chat/completions, which its schema has checked, into the internal request. */

import { textFault } from '../../../../platform/text/given-text.ts';
import type { ChatPrompt, CompletionRequest, ProviderMembers } from '../../../inference/index.ts';
import { RequestMedia } from '../../../inference/media/request-media.ts';
import type { EvidenceBounds } from '../../../logs/index.ts';
import type { RecallBounds } from '../../../memory/index.ts';
import { AUTO, type ConversationCall, type KnowledgeCall } from '../../answer/pending-answer.ts';
import { invalid } from '../../errors.ts';
import { type AnswerFormat, chatFormat, providerFormat, readFormat, withEngineFormat } from '../answer-format.ts';
import { bodyReader, packRequest } from '../body-reader.ts';
import {
  promptThinking,
  providerHints,
  readLogitBias,
  readLoras,
  readPriority,
  readSampling,
  readSpeculation,
  readStop,
} from '../engine-members.ts';
import { SchemaReader, schemaNotes } from '../json-schema.ts';
import { asList, asMembers, asText, isMembers, type Members, messageText, omitNullish, textOr } from '../members.ts';
import {
  forceFunctions,
  forceOne,
  plainChoice,
  promptTools,
  type ReadTool,
  readFunction,
  refuseDuplicates,
  type ToolUse,
  toolSchemas,
} from '../tools.ts';
import { readAnswer } from './conversation-answer.ts';
import { ChatRequest } from './schema.ts';

export interface ChatCall {
  request: CompletionRequest;
  stream: boolean;
  includeUsage: boolean;
  /** The question for an answer from knowledge bases: its messages, which wait for the passages. The prompt's own are then empty. */
  knowledge?: KnowledgeCall;
  /** The conversation of the caller that both sides are stored in. */
  conversation?: ConversationCall;
  /** The memories that the caller asks for, or none of them. */
  memory?: RecallBounds | 'off';
  /** The time and classes of collected log lines that are asked for. */
  logs?: EvidenceBounds;
  /** The tools of the node that may run, where its header asks for them. */
  edgeTools?: readonly string[];
}

export function readChatRequest(body: ChatRequest): ChatCall {
  const { messages, media } = readMessages(body.messages);
  const hasKnowledge = (body.knowledge?.length ?? 0) > 0;
  const { needsTools, toolPrompt, format, provider, schemas } = readForm(body);
  const job = omitNullish<CompletionRequest['job']>({
    prompt: {
      kind: 'chat',
      messagesJson: hasKnowledge ? '[]' : JSON.stringify(messages),
      ...toolPrompt,
      ...promptThinking(body.reasoning_effort, body.chat_template_kwargs),
    },
    ...format,
    media: media?.parts,
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
    request: {
      model: body.model,
      needsTools,
      needsVision: media?.hasImages ?? false,
      needsAudio: media?.hasSounds ?? false,
      ...(schemas && schemaNotes(schemas)),
      job,
      provider: { ...(body.reasoning_effort && { reasoningEffort: body.reasoning_effort }), ...providerHints(body), ...provider },
    },
    stream: body.stream ?? false,
    includeUsage: readIncludeUsage(body),
    ...(hasKnowledge && readKnowledge(body, messages)),
    ...readMemory(body.memory),
    ...(body.logs && { logs: body.logs }),
    ...(body.edge_tools ? { edgeTools: [...new Set(body.edge_tools)] } : {}),
    ...readConversation(body, messages),
  };
}

function readKnowledge({ knowledge, knowledge_fallback: fallback }: ChatRequest, messages: readonly Members[]) {
  const names = new Set(knowledge);
  const isAuto = names.delete(AUTO);
  const call = { namespaces: [...names], messages, fallback: fallback === 'model' ? 'model' : 'none' } as const;
  return { knowledge: isAuto ? { ...call, isAuto } : call };
}

function readMemory(memory: ChatRequest['memory']): Pick<ChatCall, 'memory'> {
  if (memory === undefined || memory === null) return {};
  if (typeof memory === 'boolean') return { memory: memory ? {} : 'off' };
  return { memory };
}

/** Reads which form the answer may have. Most requests say nothing of it. */
function readForm(body: ChatRequest): {
  needsTools: boolean;
  toolPrompt: Partial<ChatPrompt>;
  format: AnswerFormat & Pick<CompletionRequest['job'], 'toolSchemas'>;
  provider?: ProviderMembers;
  schemas?: SchemaReader;
} {
  const isFree = !body.tools?.length && !body.tool_choice && !body.response_format && !body.json_schema && !body.grammar;
  if (isFree) return { needsTools: false, toolPrompt: {}, format: {} };
  const schemas = new SchemaReader();
  const use = readToolUse(body.tools, body.tool_choice, schemas);
  const format = { ...readChatFormat(body, schemas), ...toolSchemas(use, schemas) };
  return {
    needsTools: use.tools.length > 0 && use.choice !== 'none',
    toolPrompt: promptTools(use, body.parallel_tool_calls),
    format,
    provider: providerFormat(body.response_format?.['json_schema'], schemas),
    schemas,
  };
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
  const format = body.response_format ? readFormat(body.response_format, chatFormat, 'response_format', schemas) : {};
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

function readTool(tool: Members, param: string, schemas: SchemaReader): ReadTool {
  if (tool['type'] !== 'function')
    throw invalid(`${param}.type`, `${param}.type must be function; this server runs no other tools.`);
  const read = readFunction(asMembers(tool['function'], `${param}.function`), `${param}.function`, schemas);
  const mark = tool['cache_control'];
  return isMembers(mark) ? { ...read, shown: { ...read.shown, cache_control: mark } } : read;
}

function objectChoice(choice: Members, tools: ReadTool[]): ToolUse {
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

/** `developer` is OpenAI's newer name of `system`, and `function` its older one of `tool`. */
const roles: Readonly<Record<string, string>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

export interface ReadMessages {
  messages: Members[];
  /** Undefined: the messages are text. */
  media: RequestMedia | undefined;
}

/** Gives what keeps the images and sounds of a request, for the first of them that is met. */
type MediaKeeper = () => RequestMedia;

/** Reads OpenAI's messages into those that the chat template gets, and the images and sounds beside them. */
export function readMessages(list: readonly unknown[]): ReadMessages {
  let media: RequestMedia | undefined;
  const keeper = () => {
    media ??= new RequestMedia();
    return media;
  };
  const messages = list.map((message, index) =>
    readMessage(asMembers(message, `messages[${index}]`), `messages[${index}]`, keeper),
  );
  return { messages, media };
}

function readMessage(message: Members, param: string, media: MediaKeeper): Members {
  const role = Object.hasOwn(roles, String(message['role'])) ? roles[String(message['role'])] : undefined;
  if (role === undefined) {
    throw invalid(`${param}.role`, `${param}.role must be one of ${Object.keys(roles).join(', ')}.`);
  }
  const read: Members = { role, content: readContent(message['content'], `${param}.content`, media) };
  if (role === 'assistant') readAssistant(message, read, param);
  if (message['role'] === 'tool') read['tool_call_id'] = asText(message['tool_call_id'], `${param}.tool_call_id`);
  if (role === 'tool') read['content'] ??= '';
  if (role !== 'assistant' && read['content'] === null)
    throw invalid(`${param}.content`, `${param}.content must be a string or an array.`);
  const name = textOr(message['name'], undefined, `${param}.name`);
  if (name !== undefined) read['name'] = name;
  if (isMembers(message['cache_control'])) read['cache_control'] = message['cache_control'];
  return read;
}

function readAssistant(message: Members, read: Members, param: string): void {
  const reasoning = textOr(message['reasoning_content'], undefined, `${param}.reasoning_content`);
  if (reasoning !== undefined) read['reasoning_content'] = reasoning;
  const details = message['reasoning_details'];
  if (details !== undefined && details !== null) {
    const at = `${param}.reasoning_details`;
    read['reasoning_details'] = asList(details, at).map((detail, index) => readDetail(asMembers(detail, `${at}[${index}]`), at));
  }
  const { function_call: older, tool_calls: calls = older ? [{ function: older }] : undefined } = message;
  if (calls !== undefined && calls !== null) {
    const readCalls = asList(calls, `${param}.tool_calls`).map((call, index) => readCall(call, `${param}.tool_calls[${index}]`));
    if (readCalls.length > 0) read['tool_calls'] = readCalls;
  }
  if (message['audio'])
    throw invalid(
      `${param}.audio`,
      `${param}.audio names sounds of an earlier answer, and none are made here: send what was said.`,
    );
  const refusalText = textOr(message['refusal'], undefined, `${param}.refusal`);
  if (read['content'] === null && refusalText !== undefined) read['content'] = refusalText;
  if (read['content'] === null && read['tool_calls'] === undefined && reasoning === undefined) {
    throw invalid(`${param}.content`, `${param} needs content or tool_calls.`);
  }
}

/** Goes back to the provider that has signed it; the engine passes it over. */
function readDetail({ type, text, signature, data }: Members, param: string): Members {
  const texts = { type: asText(type, `${param}.type`), text, signature, data };
  for (const [name, value] of Object.entries(texts)) textOr(value, undefined, `${param}.${name}`);
  return texts;
}

function readCall(value: unknown, param: string): Members {
  const call = asMembers(value, param);
  const target = asMembers(call['function'], `${param}.function`);
  return {
    id: textOr(call['id'], '', `${param}.id`),
    type: 'function',
    function: {
      name: asText(target['name'], `${param}.function.name`),
      arguments: readArguments(target['arguments'], `${param}.function.arguments`),
    },
  };
}

/** Templates parse the arguments, so text that is no JSON is refused here, where the member can be named. */
function readArguments(value: unknown, param: string): string {
  if (isMembers(value)) return JSON.stringify(value);
  const text = textOr(value, '', param).trim() || '{}';
  try {
    JSON.parse(text);
  } catch (cause) {
    throw invalid(param, `${param} must be a string of JSON: ${(cause as Error).message}.`);
  }
  return text;
}

function readContent(content: unknown, param: string, media: MediaKeeper): string | Members[] | null {
  if (content === undefined || content === null) return null;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw invalid(param, `${param} must be a string, an array of parts or null.`);
  const parts = content.map((part, index) => readPart(asMembers(part, `${param}[${index}]`), `${param}[${index}]`, media));
  return parts.every((part) => part['type'] === 'text' && part['cache_control'] === undefined)
    ? parts.map((part) => part['text']).join('')
    : parts;
}

/** Marks of a provider's prompt cache stay where they are; the engine, which caches all prefixes, passes them over. */
function readPart(part: Members, param: string, media: MediaKeeper): Members {
  const read = readUnmarked(part, param, media);
  const mark = part['cache_control'];
  return isMembers(mark) ? { ...read, cache_control: mark } : read;
}

function readUnmarked(part: Members, param: string, media: MediaKeeper): Members {
  switch (part['type']) {
    case 'text':
      return { type: 'text', text: asText(part['text'], `${param}.text`) };
    case 'refusal':
      return { type: 'text', text: asText(part['refusal'], `${param}.refusal`) };
    case 'image_url': {
      const image = part['image_url'];
      const url =
        typeof image === 'string' ? image : asText(asMembers(image, `${param}.image_url`)['url'], `${param}.image_url.url`);
      const detail = isMembers(image) ? image['detail'] : undefined;
      const asked = detail === 'low' || detail === 'high' ? { detail } : {};
      return { type: 'image_url', image_url: { url: media().addImageUrl(url, `${param}.image_url.url`), ...asked } };
    }
    case 'input_audio':
      return { type: 'input_audio', input_audio: readSound(part['input_audio'], `${param}.input_audio`, media) };
    default:
      throw invalid(
        `${param}.type`,
        `${param}.type must be text, image_url, input_audio or refusal; other parts are not served here.`,
      );
  }
}

function readSound(value: unknown, param: string, media: MediaKeeper): Members {
  const sound = asMembers(value, param);
  const format = asText(sound['format'], `${param}.format`);
  return { data: media().addSound(asText(sound['data'], `${param}.data`), format, param), format };
}

export const chatReader = bodyReader('chat', ChatRequest, readChatRequest, (call) => ({
  ...call,
  request: packRequest(call.request),
}));
