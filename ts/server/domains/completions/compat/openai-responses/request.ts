/** POST /v1/responses, checked by its schema -> the internal request. */
import type { CompletionRequest } from '../../../inference/index.ts';
import { invalid } from '../../errors.ts';
import { type AnswerFormat, providerFormat, readFormat, textFormat, withEngineFormat } from '../answer-format.ts';
import { promptThinking, providerHints, readLoras, readPriority, readSampling, readSpeculation } from '../engine-members.ts';
import { SchemaReader, schemaNotes } from '../json-schema.ts';
import { asMembers, asText, isMembers, type Members, omitNullish } from '../members.ts';
import { type ReadMessages, readMessages } from '../openai-chat/request.ts';
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
import { isFileSearch } from './file-search/file-search.ts';
import { isHosted } from './hosted/hosted-tools.ts';
import { LOGPROBS } from './includables.ts';
import { itemsToMessages } from './items.ts';
import type { ResponsesRequest } from './schema.ts';

/** `earlier` are the items of the responses that this one continues; their instructions do not carry over. */
export function readResponsesRequest(body: ResponsesRequest, earlier: readonly Members[] = []): CompletionRequest {
  const { messages, media } = responsesMessages(body, earlier);
  return responsesRequest(body, messages, media);
}

export function responsesMessages(body: ResponsesRequest, earlier: readonly Members[]): ReadMessages {
  return readMessages(itemsToMessages(earlier, body.input, body.instructions));
}

/** `messages` are those of the body, or what was made of them. */
export function responsesRequest(
  body: ResponsesRequest,
  messages: readonly Members[],
  media: ReadMessages['media'],
): CompletionRequest {
  const schemas = new SchemaReader();
  const use = readToolUse(body.tools ?? [], body.tool_choice, schemas);
  const job = omitNullish<CompletionRequest['job']>({
    prompt: {
      kind: 'chat',
      messagesJson: JSON.stringify(messages),
      ...promptTools(use, body.parallel_tool_calls),
      ...promptThinking(body.reasoning?.effort, body.chat_template_kwargs),
    },
    ...responsesFormat(body, schemas),
    ...toolSchemas(use, schemas),
    media: media?.parts,
    maxTokens: body.max_output_tokens,
    sampling: readSampling(body),
    topLogprobs: body.include?.includes(LOGPROBS) ? (body.top_logprobs ?? 0) : undefined,
    loras: readLoras(body.lora),
    cachePrompt: body.cache_prompt,
    priority: readPriority(body.service_tier),
    ...readSpeculation(body),
  });
  const effort = body.reasoning?.effort;
  return {
    model: body.model,
    needsTools: mayCall(use),
    needsVision: media?.hasImages ?? false,
    needsAudio: media?.hasSounds ?? false,
    ...schemaNotes(schemas),
    job,
    provider: {
      ...(effort && { reasoningEffort: effort }),
      ...providerHints(body),
      ...providerFormat(body.text?.format, schemas),
    },
  };
}

/** Empty: the answer is free text. */
function responsesFormat(body: ResponsesRequest, schemas: SchemaReader): AnswerFormat {
  const format = body.text?.format;
  const stated = format ? readFormat(format, textFormat, 'text.format', schemas) : {};
  return withEngineFormat(stated, body, 'text.format', schemas);
}

function mayCall({ tools, choice }: ToolUse): boolean {
  return tools.length > 0 && choice !== 'none';
}

function readToolUse(list: readonly unknown[], choice: string | Members | null | undefined, schemas: SchemaReader): ToolUse {
  const tools = list.flatMap((tool, index) =>
    isFileSearch(tool) || isHosted(tool) ? [] : [readTool(asMembers(tool, `tools[${index}]`), `tools[${index}]`, schemas)],
  );
  refuseDuplicates(tools, 'tools');
  if (choice === undefined || choice === null) return { tools, choice: 'auto' };
  // A search is made whether or not the model asks for it, and satisfies the choice.
  const isSearched = list.some(isFileSearch);
  if (isFileSearch(choice) || (choice === 'required' && isSearched)) return { tools, choice: 'auto' };
  // The node has the model call one of its own tools, see `HostedTools`.
  if (choice === 'required' && list.some(isHosted)) return { tools, choice: 'auto' };
  if (isHosted(choice)) return { tools: [], choice: 'auto' };
  if (typeof choice === 'string') return plainChoice(choice, tools, 'tool_choice');
  if (choice['type'] === 'function') return forceOne(tools, asText(choice['name'], 'tool_choice.name'));
  if (choice['type'] === 'allowed_tools') return allowedTools(choice, tools);
  throw invalid('tool_choice.type', 'tool_choice.type must be function, file_search, web_search, mcp or allowed_tools.');
}

function allowedTools(choice: Members, tools: ReadTool[]): ToolUse {
  const all = Array.isArray(choice['tools']) ? (choice['tools'] as unknown[]) : [];
  const list = all.filter((tool) => !isFileSearch(tool) && !isHosted(tool));
  const names = list.map((tool, index) => asText(isMembers(tool) ? tool['name'] : undefined, `tool_choice.tools[${index}].name`));
  return forceFunctions(
    tools,
    names,
    choice['mode'] === 'required' && list.length === all.length ? 'required' : 'auto',
    'tool_choice',
  );
}

function readTool(tool: Members, param: string, schemas: SchemaReader): ReadTool {
  if (tool['type'] !== 'function')
    throw invalid(
      `${param}.type`,
      `${param}.type must be function, file_search, web_search or mcp; this server runs no other hosted tools.`,
    );
  return readFunction(tool, param, schemas);
}
