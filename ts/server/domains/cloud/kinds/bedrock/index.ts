/** Amazon Bedrock's Converse, signed by AWS's rules and answered as AWS's binary event stream. */
import type { FinishReason } from '../../../../native/llama-shapes.ts';
import { signRequest } from '../../../../platform/network/aws-signature.ts';
import { attachedMedia, type ChatCall, type ChatMessage } from '../chat-call.ts';
import { countOf, type Json, jsonText, objectOf, parseFrame, textOr } from '../json.ts';
import {
  type FrameReader,
  type Kind,
  type ProviderFrame,
  type ProviderRecord,
  type ProviderRequest,
  UnsupportedMember,
} from '../kind.ts';
import { type MemberName, markOf, requireKnown } from '../members.ts';
import { defined } from '../openai/frames.ts';
import { refusalInStream } from '../refusal.ts';
import { argumentsOf, signedThoughts, thinkingTokens } from '../thoughts.ts';

/** Models are listed by another host: the filter names those that are offered. */
export const bedrock: Kind = {
  framing: 'aws',
  hasPath: false,
  needsKey: true,
  authorize: (key, { method, url, body, now }, { region }) => {
    const [accessKeyId = '', secretAccessKey = '', sessionToken] = key.split(':');
    const headers = { 'content-type': 'application/json' };
    const request = { method, url, headers, body: Buffer.from(body) };
    const { host: _host, ...signed } = signRequest(
      request,
      { accessKeyId, secretAccessKey, sessionToken },
      { region, service: 'bedrock' },
      now,
    );
    return signed;
  },
  chat: (call) => chatRequest(call),
  reader: () => new ConverseReader(),
};

const MEMBERS = ['marks', 'effort', 'budget', 'forcedCalls', 'systemMedia', 'resultMedia'] as const satisfies MemberName[];

function chatRequest(call: ChatCall): ProviderRequest {
  requireKnown(call, MEMBERS, ['temperature', 'topP']);
  const { temperature, topP } = call.sampling;
  const system = call.messages
    .filter(({ role }) => role === 'system')
    .flatMap((message) => [...blocksOf(message.content, call), ...pointBehind(message)]);
  const budget = thinkingTokens(call);
  const isClaude = /anthropic/.test(call.model);
  if (budget !== undefined && budget > 0 && !isClaude) {
    const member = call.thinkingBudget === undefined ? 'reasoning_effort' : 'thinking.budget_tokens';
    throw new UnsupportedMember(member, 'a budget of thoughts');
  }
  if (call.thinkingBudget !== undefined && call.reasoningEffort !== undefined)
    throw new UnsupportedMember('reasoning_effort', 'an effort beside a budget of thoughts');
  const body: Json = {
    system: system.length === 0 ? undefined : system,
    messages: markedEnd(messagesOf(call), call),
    inferenceConfig: {
      maxTokens: call.maxTokens,
      temperature,
      topP,
      stopSequences: call.stop.length === 0 ? undefined : call.stop,
    },
    ...toolsOf(call),
    ...(budget && { additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: budget } } }),
  };
  return { path: `/model/${encodeURIComponent(call.model)}/converse-stream`, body: jsonText(body) };
}

function toolsOf({ tools, toolChoice }: ChatCall): Json {
  if (tools.length === 0) return {};
  const specs = tools.flatMap(({ name, description, parameters, cacheControl }) => [
    { toolSpec: { name, description, inputSchema: { json: parameters } } },
    ...pointOf(cacheControl),
  ]);
  return { toolConfig: { tools: specs, toolChoice: toolChoice === 'required' ? { any: {} } : { auto: {} } } };
}

function messagesOf(call: ChatCall): Json[] {
  const messages: { role: string; content: Json[] }[] = [];
  for (const message of call.messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = [...contentOf(message, call), ...pointBehind(message)];
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content });
  }
  return messages.filter(({ content }) => content.length > 0);
}

function contentOf(message: ChatMessage, call: ChatCall): Json[] {
  const blocks = blocksOf(message.content, call);
  if (message.role === 'tool')
    return [{ toolResult: { toolUseId: message.tool_call_id, content: blocks.length === 0 ? [{ text: ' ' }] : blocks } }];
  if (message.role !== 'assistant') return blocks;
  const thoughts = signedThoughts(message).map(({ text, signature, data }) =>
    typeof data === 'string'
      ? { reasoningContent: { redactedContent: data } }
      : { reasoningContent: { reasoningText: { text: text ?? '', signature } } },
  );
  const calls = (message.tool_calls ?? []).flatMap(({ id, function: target, cache_control }) => [
    { toolUse: { toolUseId: id, name: target.name, input: argumentsOf(target.arguments) } },
    ...pointOf(cache_control),
  ]);
  return [...thoughts, ...blocks, ...calls];
}

function blocksOf(content: ChatMessage['content'], call: ChatCall): Json[] {
  if (content === null || content === '') return [];
  if (typeof content === 'string') return [{ text: content }];
  return content.flatMap((part) => [partOf(part, call), ...pointOf(markOf(part))]);
}

function partOf(part: Json, call: ChatCall): Json {
  if (part['type'] === 'text') return { text: part['text'] };
  const image = attachedMedia(call, (part['image_url'] as Json)['url']);
  return { image: { format: image?.format.slice('image/'.length), source: { bytes: image?.base64 } } };
}

/** Everything before the point is cached. */
function pointOf(mark: Json | undefined): Json[] {
  if (mark === undefined) return [];
  return [{ cachePoint: { type: 'default', ...(typeof mark['ttl'] === 'string' && { ttl: mark['ttl'] }) } }];
}

function pointBehind(message: ChatMessage): Json[] {
  return pointOf(markOf(message as unknown as Json));
}

function markedEnd(messages: Json[], { cacheControl }: ChatCall): Json[] {
  const last = messages.at(-1);
  if (cacheControl === undefined || last === undefined) return messages;
  return [...messages.slice(0, -1), { ...last, content: [...(last['content'] as Json[]), ...pointOf(cacheControl)] }];
}

const FINISH: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
};

const STATUS: Readonly<Record<string, number>> = {
  throttlingException: 429,
  validationException: 400,
  accessDeniedException: 403,
  resourceNotFoundException: 404,
  modelStreamErrorException: 500,
  internalServerException: 500,
  serviceUnavailableException: 503,
  modelTimeoutException: 408,
};

interface Block {
  readonly call: number;
  text: string;
  signature: string;
  data: string;
}

class ConverseReader implements FrameReader {
  readonly #blocks = new Map<number, Block>();
  #nCalls = 0;

  push({ event, data }: ProviderFrame): ProviderRecord[] {
    const frame = parseFrame(data);
    if (event.startsWith('exception:')) {
      const status = STATUS[event.slice('exception:'.length)];
      return [{ kind: 'refused', refusal: refusalInStream(frame, status) }];
    }
    const index = countOf(frame['contentBlockIndex']) ?? 0;
    switch (event) {
      case 'contentBlockStart':
        return this.#start(index, objectOf(objectOf(frame['start'])['toolUse']));
      case 'contentBlockDelta':
        return this.#delta(this.#block(index), objectOf(frame['delta']));
      case 'contentBlockStop':
        return this.#stop(this.#block(index));
      case 'messageStop':
        return [{ kind: 'finish', choice: 0, reason: FINISH[textOr(frame['stopReason'])] ?? 'stop' }];
      case 'metadata':
        // The last event of every stream.
        return [{ kind: 'usage', tokens: tokensOf(objectOf(frame['usage'])) }, { kind: 'end' }];
      default:
        return [];
    }
  }

  #block(index: number): Block {
    let block = this.#blocks.get(index);
    if (block === undefined) {
      block = { call: this.#nCalls, text: '', signature: '', data: '' };
      this.#blocks.set(index, block);
    }
    return block;
  }

  #start(index: number, use: Json): ProviderRecord[] {
    this.#block(index);
    if (typeof use['toolUseId'] !== 'string') return [];
    return [{ kind: 'call', choice: 0, index: this.#nCalls++, id: use['toolUseId'], name: textOr(use['name']) }];
  }

  #delta(block: Block, delta: Json): ProviderRecord[] {
    if (typeof delta['text'] === 'string')
      return delta['text'] === '' ? [] : [{ kind: 'content', choice: 0, text: delta['text'] }];
    const input = textOr(objectOf(delta['toolUse'])['input']);
    if (input !== '') return [{ kind: 'arguments', choice: 0, index: block.call, text: input }];
    const { text, signature, redactedContent } = objectOf(delta['reasoningContent']);
    block.text += textOr(text);
    block.signature += textOr(signature);
    block.data += textOr(redactedContent);
    return textOr(text) === '' ? [] : [{ kind: 'reasoning', choice: 0, text: textOr(text) }];
  }

  #stop({ text, signature, data }: Block): ProviderRecord[] {
    if (data !== '') return [{ kind: 'detail', choice: 0, detail: { type: 'redacted_thinking', data } }];
    return signature === '' ? [] : [{ kind: 'detail', choice: 0, detail: { type: 'thinking', text, signature } }];
  }
}

/** Its input leaves out what was read from the cache and written to it. */
function tokensOf(usage: Json) {
  const read = countOf(usage['cacheReadInputTokens']);
  const written = countOf(usage['cacheWriteInputTokens']);
  const input = countOf(usage['inputTokens']);
  return defined({
    nPromptTokens: input === undefined ? undefined : input + (read ?? 0) + (written ?? 0),
    nCompletionTokens: countOf(usage['outputTokens']),
    nCacheReadTokens: read,
    nCacheWrite5mTokens: written,
  });
}
