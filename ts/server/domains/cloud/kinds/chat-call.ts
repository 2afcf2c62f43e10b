/** A chat as the kinds take it: our request with its texts and media read, in no provider's shape. */
import type { Sampling } from '../../../native/llama-shapes.ts';
import { bytesOf, type CompletionRequest, type EncodedMedia, textOf } from '../../inference/index.ts';
import { isObject, type Json } from './json.ts';
import { UnsupportedMember } from './kind.ts';

interface ChatTool {
  name: string;
  description?: string | undefined;
  parameters: Json;
  isStrict: boolean;
  /** A mark of the prompt cache. */
  cacheControl?: Json | undefined;
}

interface ChatMedia {
  kind: 'image' | 'audio';
  /** image/png; of sounds wav or mp3. */
  format: string;
  base64: string;
}

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | Json[] | null;
  name?: string;
  reasoning_content?: string;
  reasoning_details?: Json[];
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string }; cache_control?: Json }[];
  tool_call_id?: string;
  /** A mark behind all of the message. */
  cache_control?: Json;
}

export interface ChatCall {
  /** The provider's own name of the model. */
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  readonly toolChoice: 'auto' | 'required' | 'none';
  readonly parallelToolCalls: boolean | undefined;
  readonly maxTokens: number | undefined;
  readonly n: number;
  readonly stop: readonly string[];
  readonly sampling: Readonly<Partial<Sampling>>;
  readonly logitBias: readonly [token: number, bias: number][] | undefined;
  readonly topLogprobs: number | undefined;
  readonly jsonSchema: Json | undefined;
  readonly schemaName: string | undefined;
  readonly schemaDescription: string | undefined;
  readonly isStrictSchema: boolean | undefined;
  readonly grammar: string | undefined;
  readonly reasoningEffort: string | undefined;
  readonly thinkingBudget: number | undefined;
  readonly enableThinking: boolean | undefined;
  /** A template is told them besides whether and how much the model thinks. */
  readonly templateKwargs: Json | undefined;
  readonly cachePrompt: boolean | undefined;
  /** Below 0 others go first, above it this one does. */
  readonly priority: number;
  readonly nDraftMax: number | undefined;
  readonly draftSource: 'any' | 'none' | 'ngram' | 'model' | undefined;
  /** A mark of the prompt cache behind everything. */
  readonly cacheControl: Json | undefined;
  /** Members of OpenAI's API that change no answer. */
  readonly hints: Readonly<Record<string, string>>;
  readonly media: readonly ChatMedia[];
  /** The messages and the tools have so many as JSON. */
  readonly nTextBytes: number;
}

/** Throws UnsupportedMember for a prompt that is no chat. */
export function readChatCall({ job, provider = {} }: CompletionRequest): Omit<ChatCall, 'model'> {
  const { prompt } = job;
  if (prompt.kind !== 'chat') throw new UnsupportedMember('prompt', 'a text without messages');
  if (job.loras !== undefined && job.loras.length > 0) throw new UnsupportedMember('lora', 'adapters of this node');
  const messagesJson = textOf(prompt.messagesJson);
  const toolsJson = prompt.toolsJson === undefined ? '[]' : textOf(prompt.toolsJson);
  const tools = JSON.parse(toolsJson) as Json[];
  const kwargs = prompt.templateKwargsJson === undefined ? {} : (JSON.parse(textOf(prompt.templateKwargsJson)) as Json);
  const effort =
    provider.reasoningEffort ?? (typeof kwargs['reasoning_effort'] === 'string' ? kwargs['reasoning_effort'] : undefined);
  return {
    messages: JSON.parse(messagesJson) as ChatMessage[],
    tools: tools.map(readTool),
    toolChoice: prompt.toolChoice ?? 'auto',
    parallelToolCalls: prompt.parallelToolCalls,
    maxTokens: job.maxTokens,
    n: job.n ?? 1,
    stop: job.stop ?? [],
    sampling: job.sampling ?? {},
    logitBias: job.logitBias,
    topLogprobs: job.topLogprobs,
    jsonSchema: job.jsonSchema === undefined ? undefined : (JSON.parse(provider.jsonSchema ?? textOf(job.jsonSchema)) as Json),
    schemaName: provider.schemaName,
    schemaDescription: provider.schemaDescription,
    isStrictSchema: provider.isStrictSchema,
    grammar: job.grammar,
    reasoningEffort: effort,
    thinkingBudget: provider.thinkingBudget,
    enableThinking: prompt.enableThinking,
    templateKwargs: withoutKnown(kwargs, { enable_thinking: prompt.enableThinking, reasoning_effort: effort }),
    cachePrompt: job.cachePrompt,
    priority: job.priority ?? 0,
    nDraftMax: job.nDraftMax,
    draftSource: job.draftSource,
    cacheControl: provider.cacheControl,
    hints: provider.hints ?? {},
    media: (job.media ?? []).map(readMedia),
    nTextBytes: Buffer.byteLength(messagesJson) + Buffer.byteLength(toolsJson),
  };
}

/** Members of a template that have a name of their own here are not said twice. */
function withoutKnown(kwargs: Json, known: Json): Json | undefined {
  const others = Object.entries(kwargs).filter(([name, value]) => known[name] !== value);
  return others.length === 0 ? undefined : Object.fromEntries(others);
}

/** The schema of the answer, with what the client says about it in the schema itself. */
export function describedSchema({ jsonSchema, schemaDescription: description }: ChatCall): Json | undefined {
  if (jsonSchema === undefined || description === undefined || jsonSchema['description'] !== undefined) return jsonSchema;
  return { description, ...jsonSchema };
}

function readTool(tool: Json): ChatTool {
  const target = tool['function'] as Json;
  return {
    name: String(target['name']),
    description: target['description'] as string | undefined,
    parameters: isObject(target['parameters']) ? target['parameters'] : { type: 'object', properties: {} },
    isStrict: target['strict'] === true,
    ...(isObject(tool['cache_control']) && { cacheControl: tool['cache_control'] }),
  };
}

function readMedia(media: EncodedMedia): ChatMedia {
  const bytes = bytesOf(media.bytes);
  const format = media.kind === 'image' ? imageType(bytes) : media.format;
  return { kind: media.kind, format, base64: bytes.toString('base64') };
}

/** By its first bytes; the request was taken with one of these. */
function imageType(bytes: Buffer): string {
  if (bytes[0] === 0x89) return 'image/png';
  if (bytes[0] === 0xff) return 'image/jpeg';
  const head = bytes.toString('latin1', 0, 12);
  if (head.startsWith('GIF')) return 'image/gif';
  return head.startsWith('RIFF') ? 'image/webp' : 'image/avif';
}

/** The media part that a message names `attached:N`. */
export function attachedMedia(call: Pick<ChatCall, 'media'>, name: unknown): ChatMedia | undefined {
  return call.media[Number(/^attached:(\d+)$/.exec(String(name))?.[1] ?? -1)];
}
