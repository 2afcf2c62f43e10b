/** Ollama's own API: a JSON object a line. */
import { attachedMedia, type ChatCall, type ChatMessage, describedSchema } from '../chat-call.ts';
import { countOf, isObject, type Json, jsonText, listOf, objectOf, parseFrame, textOr } from '../json.ts';
import {
  type FrameReader,
  type Kind,
  type ProviderFrame,
  type ProviderRecord,
  type ProviderRequest,
  readVectors,
  UnsupportedMember,
} from '../kind.ts';
import { type MemberName, requireKnown, wireName } from '../members.ts';
import { defined } from '../openai/frames.ts';
import { refusalInStream } from '../refusal.ts';
import { argumentsOf, plainText } from '../thoughts.ts';

export const ollama: Kind = {
  framing: 'lines',
  hasPath: false,
  needsKey: false,
  authorize: (key) => ({ authorization: `Bearer ${key}` }),
  chat: (call) => chatRequest(call),
  reader: () => new OllamaReader(),
  models: {
    request: () => ({ method: 'GET', path: '/api/tags' }),
    read: (body) =>
      listOf(objectOf(body)['models']).flatMap((entry) => {
        const id = textOr(objectOf(entry)['model']) || textOr(objectOf(entry)['name']);
        return id === '' ? [] : [{ id }];
      }),
  },
  embeddings: {
    request: (model, input) => ({ path: '/api/embed', body: jsonText({ model, input }) }),
    read: (body) => ({
      vectors: readVectors(listOf(objectOf(body)['embeddings'])),
      nTokens: countOf(objectOf(body)['prompt_eval_count']),
    }),
  },
};

const MEMBERS = ['schema', 'effort', 'withheldCalls', 'avif', 'systemMedia', 'resultMedia'] as const satisfies MemberName[];
const SAMPLERS = [
  'temperature',
  'topP',
  'topK',
  'minP',
  'repeatPenalty',
  'repeatLastN',
  'frequencyPenalty',
  'presencePenalty',
  'seed',
] as const satisfies (keyof ChatCall['sampling'])[];

function chatRequest(call: ChatCall): ProviderRequest {
  const { sampling } = call;
  requireKnown(call, MEMBERS, SAMPLERS);
  const named = Object.entries(sampling).map(([name, value]) => [wireName(name), value]);
  const offers = call.tools.length > 0 && call.toolChoice !== 'none';
  const body: Json = {
    model: call.model,
    messages: call.messages.map((message) => messageOf(message, call)),
    stream: true,
    format: describedSchema(call),
    think: thinkOf(call),
    options: { ...Object.fromEntries(named), num_predict: call.maxTokens, stop: call.stop.length === 0 ? undefined : call.stop },
    tools: offers
      ? call.tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } }))
      : undefined,
  };
  return { path: '/api/chat', body: jsonText(body) };
}

function thinkOf({ enableThinking, reasoningEffort: effort }: ChatCall): boolean | string | undefined {
  if (effort === undefined) return enableThinking;
  const known = { none: false, minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high' } as const;
  if (!Object.hasOwn(known, effort)) throw new UnsupportedMember('reasoning_effort', `the effort ${effort.slice(0, 40)}`);
  return known[effort as keyof typeof known];
}

/** A result says which function it is of by its name. */
function messageOf(message: ChatMessage, call: ChatCall): Json {
  const { role, content, reasoning_content: thinking, tool_calls: calls, tool_call_id: id } = message;
  const images = Array.isArray(content) ? content.flatMap((part) => imageOf(part, call)) : [];
  const asked = call.messages.flatMap(({ tool_calls: made = [] }) => made).find((made) => made.id === id);
  return {
    role,
    content: plainText(content),
    thinking: thinking || undefined,
    images: images.length === 0 ? undefined : images,
    tool_calls: calls?.map(({ function: target }) => ({
      function: { name: target.name, arguments: argumentsOf(target.arguments) },
    })),
    tool_name: role === 'tool' ? asked?.function.name : undefined,
  };
}

function imageOf(part: Json, call: ChatCall): string[] {
  if (part['type'] !== 'image_url') return [];
  const image = attachedMedia(call, (part['image_url'] as Json)['url']);
  return image === undefined ? [] : [image.base64];
}

class OllamaReader implements FrameReader {
  #nCalls = 0;

  push({ data }: ProviderFrame): ProviderRecord[] {
    const frame = parseFrame(data);
    if (frame['error'] !== undefined) return [{ kind: 'refused', refusal: refusalInStream(frame, undefined) }];
    const records: ProviderRecord[] = [];
    const message = objectOf(frame['message']);
    const thinking = textOr(message['thinking']);
    if (thinking !== '') records.push({ kind: 'reasoning', choice: 0, text: thinking });
    const text = textOr(message['content']);
    if (text !== '') records.push({ kind: 'content', choice: 0, text });
    for (const call of listOf(message['tool_calls'])) if (isObject(call)) this.#call(call, records);
    if (frame['done'] === true) this.#done(frame, records);
    return records;
  }

  /** Calls come whole, and without ids. */
  #call(call: Json, records: ProviderRecord[]): void {
    const target = objectOf(call['function']);
    const index = this.#nCalls++;
    const id = textOr(call['id']) || `call_${index}`;
    records.push({ kind: 'call', choice: 0, index, id, name: textOr(target['name']) });
    const made = target['arguments'];
    records.push({ kind: 'arguments', choice: 0, index, text: typeof made === 'string' ? made : JSON.stringify(made ?? {}) });
  }

  #done(frame: Json, records: ProviderRecord[]): void {
    const tokens = defined({
      nPromptTokens: countOf(frame['prompt_eval_count']),
      nCompletionTokens: countOf(frame['eval_count']),
    });
    if (Object.keys(tokens).length > 0) records.push({ kind: 'usage', tokens });
    const isCut = frame['done_reason'] === 'length';
    records.push(
      { kind: 'finish', choice: 0, reason: isCut ? 'length' : this.#nCalls > 0 ? 'tool_calls' : 'stop' },
      { kind: 'end' },
    );
  }
}
