/** POST /v1/messages, checked by its schema -> the internal request. */

import type { ChatPrompt, CompletionRequest, EncodedMedia } from '../../../inference/index.ts';
import { RequestMedia } from '../../../inference/media/request-media.ts';
import { invalid } from '../../errors.ts';
import { type AnswerFormat, outputFormat, providerFormat, readFormat, withEngineFormat } from '../answer-format.ts';
import { bodyReader, packPrompt, packRequest } from '../body-reader.ts';
import { promptThinking, readLoras, readPriority, readSampling, readSpeculation, readStop } from '../engine-members.ts';
import { SchemaReader, schemaNotes } from '../json-schema.ts';
import { asMembers, asText, isMembers, type Members, omitNullish } from '../members.ts';
import {
  forceOne,
  plainChoice,
  promptTools,
  type ReadTool,
  readFunction,
  refuseDuplicates,
  type ToolUse,
  toolSchemas,
} from '../tools.ts';
import { readAnthropicMessages } from './messages.ts';
import { CountRequest, MessagesRequest } from './schema.ts';
import { isSearchTool, readSearchTool, type SearchTool } from './server-tools.ts';

export interface MessagesCall {
  request: CompletionRequest;
  stream: boolean;
  /** Blocks of thinking have no text. */
  omitsThinking: boolean;
  /** The server tool that was asked for, unless `tool_choice` keeps the model from it. */
  search?: SearchTool & { readonly isForced: boolean };
  /** The tools of the node that may run, where its header asks for them. */
  edgeTools?: readonly string[];
}

export interface CountCall {
  model: string;
  prompt: ChatPrompt;
  needsTools: boolean;
  needsVision: boolean;
}

interface ReadPrompt {
  prompt: ChatPrompt;
  media: EncodedMedia[];
  needsTools: boolean;
  use: ToolUse;
}

function readMessagesCall(body: MessagesRequest): MessagesCall {
  return {
    request: readMessagesRequest(body),
    stream: body.stream ?? false,
    omitsThinking: body.thinking?.display === 'omitted',
    ...readSearch(body.tools ?? [], body.tool_choice),
    ...(body.edge_tools ? { edgeTools: [...new Set(body.edge_tools)] } : {}),
  };
}

function readSearch(list: readonly unknown[], choice: Members | null | undefined): Pick<MessagesCall, 'search'> {
  const found = list.flatMap((tool, i) => (isSearchTool(tool) ? [readSearchTool(tool as Members, `tools[${i}]`)] : []));
  const [search, second] = found;
  if (second !== undefined) throw invalid(second.param, `${second.param}: web_search stands once in tools.`);
  if (search === undefined || choice?.['type'] === 'none') return {};
  if (choice?.['type'] === 'tool' && choice['name'] !== 'web_search') return {};
  return { search: { ...search, isForced: choice?.['type'] === 'tool' || choice?.['type'] === 'any' } };
}

function readCountCall(body: CountRequest): CountCall {
  const { prompt, media, needsTools } = readPrompt(body);
  return { model: body.model, prompt, needsTools, needsVision: media.length > 0 };
}

export function readMessagesRequest(body: MessagesRequest): CompletionRequest {
  const schemas = new SchemaReader();
  const thinking = promptThinking(body.output_config?.effort, body.chat_template_kwargs);
  const { prompt, media, needsTools, use } = readPrompt(body, thinking, schemas);
  const job = omitNullish<CompletionRequest['job']>({
    prompt,
    ...withEngineFormat(readOutputFormat(body, schemas), body, 'output_config.format', schemas),
    ...toolSchemas(use, schemas),
    media: media.length > 0 ? media : undefined,
    maxTokens: body.max_tokens,
    stop: readStop(body.stop_sequences),
    sampling: readSampling(body),
    loras: readLoras(body.lora),
    cachePrompt: body.cache_prompt,
    priority: readPriority(body.service_tier),
    ...readSpeculation(body),
  });
  const budget = body.thinking?.['budget_tokens'];
  const effort = body.output_config?.effort;
  return {
    model: body.model,
    needsTools,
    needsVision: media.length > 0,
    needsAudio: false,
    ...schemaNotes(schemas),
    job,
    provider: {
      ...(typeof budget === 'number' && { thinkingBudget: budget }),
      ...(effort && { reasoningEffort: effort }),
      ...(isMembers(body.cache_control) && { cacheControl: body.cache_control }),
      ...providerFormat({}, schemas),
    },
  };
}

function readPrompt(
  body: Omit<CountRequest, 'output_config' | 'output_format'>,
  thinking = {},
  schemas = new SchemaReader(),
): ReadPrompt {
  const media = new RequestMedia();
  const messages = readAnthropicMessages(body.system, body.messages, media);
  const use = readToolUse(body.tools ?? [], body.tool_choice, schemas);
  const parallel = body.tool_choice?.['disable_parallel_tool_use'] === true ? false : undefined;
  return {
    prompt: {
      kind: 'chat',
      messagesJson: JSON.stringify(messages),
      ...promptTools(use, parallel),
      ...thinking,
      ...thinkingAsked(body.thinking),
    },
    media: media.parts,
    needsTools: use.tools.length > 0 && use.choice !== 'none',
    use,
  };
}

/** Both names at once are one too many: they could differ. */
function readOutputFormat({ output_config: config, output_format: older }: MessagesRequest, schemas: SchemaReader): AnswerFormat {
  const format = config?.format;
  if (format && older) throw invalid('output_format', 'output_format and output_config.format say the same: give one.');
  if (format) return readFormat(format, outputFormat, 'output_config.format', schemas);
  return older ? readFormat(older, outputFormat, 'output_format', schemas) : {};
}

/** Absent means as the model does by itself. */
function thinkingAsked(thinking: CountRequest['thinking']): { enableThinking?: boolean } {
  if (!thinking) return {};
  if (![undefined, null, 'summarized', 'omitted'].includes(thinking.display))
    throw invalid('thinking.display', 'thinking.display must be summarized or omitted.');
  if (thinking.type === 'disabled') return { enableThinking: false };
  if (thinking.type === 'enabled' || thinking.type === 'adaptive') return { enableThinking: true };
  throw invalid('thinking.type', 'thinking.type must be enabled, disabled or adaptive.');
}

function readToolUse(list: readonly unknown[], choice: Members | null | undefined, schemas: SchemaReader): ToolUse {
  const tools = list.flatMap((tool, index) =>
    isSearchTool(tool) ? [] : [readTool(asMembers(tool, `tools[${index}]`), `tools[${index}]`, schemas)],
  );
  refuseDuplicates(tools, 'tools');
  // The node has the model call its own tool, see `HostedTools`.
  const isSearched = list.some(isSearchTool);
  if (isSearched && choice?.['type'] === 'any') return { tools, choice: 'auto' };
  if (isSearched && choice?.['type'] === 'tool' && choice['name'] === 'web_search') return { tools: [], choice: 'auto' };
  switch (choice?.['type']) {
    case undefined:
    case 'auto':
      return { tools, choice: 'auto' };
    case 'none':
      return { tools, choice: 'none' };
    case 'any':
      return plainChoice('required', tools, 'tool_choice');
    case 'tool':
      return forceOne(tools, asText(choice?.['name'], 'tool_choice.name'));
    default:
      throw invalid('tool_choice.type', 'tool_choice.type must be auto, any, tool or none.');
  }
}

function readTool(tool: Members, param: string, schemas: SchemaReader): ReadTool {
  const type = tool['type'] ?? 'custom';
  if (type !== 'custom')
    throw invalid(
      `${param}.type`,
      `${param}.type must be custom or web_search_20250305; this server runs no other tools of that API.`,
    );
  return readFunction({ ...tool, parameters: tool['input_schema'] }, param, schemas);
}

export const messagesReader = bodyReader('messages', MessagesRequest, readMessagesCall, (call) => ({
  ...call,
  request: packRequest(call.request),
}));

export const countReader = bodyReader('countTokens', CountRequest, readCountCall, (call) => ({
  ...call,
  prompt: packPrompt(call.prompt),
}));
