/** A chat as the kinds take it: our request with its texts and media read, in no provider's shape. */
import type { QueuedBytes, Sampling, Text } from '../../../native/llama-shapes.ts';
import { takeQueuedBytes } from '../../../platform/http/body/queued-bytes.ts';
import type { CompletionRequest, EncodedMedia } from '../../inference/index.ts';
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
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
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
  readonly isStrictSchema: boolean | undefined;
  readonly grammar: string | undefined;
  readonly reasoningEffort: string | undefined;
  readonly thinkingBudget: number | undefined;
  readonly enableThinking: boolean | undefined;
  readonly templateKwargs: Json | undefined;
  readonly media: readonly ChatMedia[];
}

/** Throws UnsupportedMember for a prompt that is no chat. */
export function readChatCall({ job, provider = {} }: CompletionRequest): Omit<ChatCall, 'model'> {
  const { prompt } = job;
  if (prompt.kind !== 'chat') throw new UnsupportedMember('prompt', 'a text without messages');
  if (job.loras !== undefined && job.loras.length > 0) throw new UnsupportedMember('lora', 'adapters of this node');
  const tools = prompt.toolsJson === undefined ? [] : (JSON.parse(textOf(prompt.toolsJson)) as Json[]);
  return {
    messages: JSON.parse(textOf(prompt.messagesJson)) as ChatMessage[],
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
    isStrictSchema: provider.isStrictSchema,
    grammar: job.grammar,
    reasoningEffort: provider.reasoningEffort,
    thinkingBudget: provider.thinkingBudget,
    enableThinking: prompt.enableThinking,
    templateKwargs: prompt.templateKwargsJson === undefined ? undefined : (JSON.parse(textOf(prompt.templateKwargsJson)) as Json),
    media: (job.media ?? []).map(readMedia),
  };
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
  const bytes = media.bytes instanceof Uint8Array ? Buffer.from(media.bytes) : takeQueuedBytes(media.bytes);
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

/** Can be read once where its bytes wait at a port. */
export function textOf(text: Text): string {
  if (typeof text === 'string') return text;
  if (text instanceof Uint8Array) return Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString();
  return takeQueuedBytes(text as QueuedBytes).toString();
}

/** The media part that a message names `attached:N`. */
export function attachedMedia(call: Pick<ChatCall, 'media'>, name: unknown): ChatMedia | undefined {
  return call.media[Number(/^attached:(\d+)$/.exec(String(name))?.[1] ?? -1)];
}

/** Samplers that no provider but our own kind has. Throws UnsupportedMember for one that was asked for and is not among `known`. */
export function requireKnownSampling(sampling: ChatCall['sampling'], known: readonly (keyof Sampling)[]): void {
  for (const [name, value] of Object.entries(sampling)) {
    if (value === undefined || (known as readonly string[]).includes(name)) continue;
    const member = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    throw new UnsupportedMember(member, `the sampler ${member}`);
  }
}
