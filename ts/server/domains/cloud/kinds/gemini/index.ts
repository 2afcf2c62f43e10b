/** Google's Gemini API: generateContent as server-sent events. The key goes in a field, and never in the address. */
import type { FinishReason } from '../../../../native/llama-shapes.ts';
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
import { type MemberName, requireKnown } from '../members.ts';
import { defined } from '../openai/frames.ts';
import { refusalInStream } from '../refusal.ts';
import { argumentsOf, plainText, thinkingTokens } from '../thoughts.ts';

export const gemini: Kind = {
  framing: 'sse',
  hasPath: false,
  needsKey: true,
  authorize: (key) => ({ 'x-goog-api-key': key }),
  chat: (call) => chatRequest(call),
  reader: (call) => new GeminiReader(call.n),
  models: {
    request: () => ({ method: 'GET', path: '/v1beta/models?pageSize=1000' }),
    read: (body) => listOf(objectOf(body)['models']).flatMap(modelOf),
  },
  embeddings: {
    request: (model, inputs) => ({
      path: `/v1beta/models/${encodeURIComponent(model)}:batchEmbedContents`,
      body: jsonText({ requests: inputs.map((text) => ({ model: `models/${model}`, content: { parts: [{ text }] } })) }),
    }),
    read: (body) => {
      const rows = listOf(objectOf(body)['embeddings']).map((row) => objectOf(row)['values']);
      return { vectors: readVectors(rows), nTokens: undefined };
    },
  },
};

function modelOf(entry: unknown): { id: string; capabilities: string[]; contextLength?: number }[] {
  const { name, supportedGenerationMethods: methods, inputTokenLimit } = objectOf(entry);
  const id = textOr(name).replace(/^models\//, '');
  if (id === '') return [];
  const has = (method: string): boolean => listOf(methods).includes(method);
  const capabilities = [
    ...(has('generateContent') ? ['chat', 'tools', 'vision', 'audio', 'thinking'] : []),
    ...(has('embedContent') ? ['embeddings'] : []),
  ];
  const contextLength = countOf(inputTokenLimit);
  return [{ id, capabilities, ...(contextLength !== undefined && { contextLength }) }];
}

const MEMBERS = [
  'choices',
  'schema',
  'effort',
  'budget',
  'forcedCalls',
  'withheldCalls',
  'strictTools',
  'sounds',
  'avif',
] as const satisfies MemberName[];

function chatRequest(call: ChatCall): ProviderRequest {
  const { sampling } = call;
  requireKnown(call, MEMBERS, ['temperature', 'topP', 'topK', 'frequencyPenalty', 'presencePenalty', 'seed']);
  if (call.thinkingBudget !== undefined && call.reasoningEffort !== undefined)
    throw new UnsupportedMember('reasoning_effort', 'an effort beside a budget of thoughts');
  const system = call.messages.filter(({ role }) => role === 'system').map(({ content }) => plainText(content));
  const budget = thinkingTokens(call);
  const body: Json = {
    systemInstruction: system.length === 0 ? undefined : { parts: [{ text: system.join('\n') }] },
    contents: contentsOf(call),
    generationConfig: {
      temperature: sampling.temperature,
      topP: sampling.topP,
      topK: sampling.topK || undefined,
      frequencyPenalty: sampling.frequencyPenalty,
      presencePenalty: sampling.presencePenalty,
      seed: sampling.seed,
      maxOutputTokens: call.maxTokens,
      candidateCount: call.n === 1 ? undefined : call.n,
      stopSequences: call.stop.length === 0 ? undefined : call.stop,
      ...(call.jsonSchema !== undefined && { responseMimeType: 'application/json', responseJsonSchema: describedSchema(call) }),
      ...(budget !== undefined && { thinkingConfig: { thinkingBudget: budget, includeThoughts: budget > 0 } }),
    },
    ...toolsOf(call),
  };
  return { path: `/v1beta/models/${encodeURIComponent(call.model)}:streamGenerateContent?alt=sse`, body: jsonText(body) };
}

function toolsOf({ tools, toolChoice }: ChatCall): Json {
  if (tools.length === 0) return {};
  // Calls that must be made follow their schemas by themselves.
  const auto = tools.some(({ isStrict }) => isStrict) ? 'VALIDATED' : 'AUTO';
  const mode = { auto, required: 'ANY', none: 'NONE' }[toolChoice];
  return {
    tools: [
      {
        functionDeclarations: tools.map(({ name, description, parameters }) => ({
          name,
          description,
          parametersJsonSchema: parameters,
        })),
      },
    ],
    toolConfig: { functionCallingConfig: { mode } },
  };
}

function contentsOf(call: ChatCall): Json[] {
  const contents: { role: string; parts: Json[] }[] = [];
  for (const message of call.messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'model' : 'user';
    const last = contents.at(-1);
    const parts = partsOf(message, call);
    if (last?.role === role) last.parts.push(...parts);
    else contents.push({ role, parts });
  }
  return contents.filter(({ parts }) => parts.length > 0);
}

function partsOf(message: ChatMessage, call: ChatCall): Json[] {
  const { role, content, tool_calls: calls = [], tool_call_id: id, reasoning_details: details = [] } = message;
  if (role === 'tool') {
    const asked = call.messages.flatMap(({ tool_calls: made = [] }) => made).find((made) => made.id === id);
    return [{ functionResponse: { name: asked?.function.name ?? id, response: { result: plainText(content) } } }];
  }
  const said = Array.isArray(content) ? content.map((part) => partOf(part, call)) : content ? [{ text: content }] : [];
  if (role !== 'assistant') return said;
  // A signature belongs to the part that it came with: the call of that number, or the text.
  const signatureOf = (place: string): Json => {
    const signature = details.find(({ type }) => type === `gemini.${place}`)?.['signature'];
    return typeof signature === 'string' ? { thoughtSignature: signature } : {};
  };
  return [
    ...said.map((part, index) => (index === said.length - 1 ? { ...part, ...signatureOf('text') } : part)),
    ...calls.map(({ function: target }, index) => ({
      functionCall: { name: target.name, args: argumentsOf(target.arguments) },
      ...signatureOf(`call_${index}`),
    })),
  ];
}

function partOf(part: Json, call: ChatCall): Json {
  if (part['type'] === 'text') return { text: part['text'] };
  const name = part['type'] === 'image_url' ? (part['image_url'] as Json)['url'] : (part['input_audio'] as Json)['data'];
  const media = attachedMedia(call, name);
  const mimeType = media?.kind === 'audio' ? `audio/${media.format}` : media?.format;
  return { inlineData: { mimeType, data: media?.base64 } };
}

const FINISH: Readonly<Record<string, FinishReason>> = { STOP: 'stop', MAX_TOKENS: 'length' };

class GeminiReader implements FrameReader {
  readonly #nChoices: number;
  readonly #nCalls = new Map<number, number>();
  readonly #finished = new Set<number>();

  constructor(nChoices: number) {
    this.#nChoices = nChoices;
  }

  push({ data }: ProviderFrame): ProviderRecord[] {
    const frame = parseFrame(data);
    if (frame['error'] !== undefined) {
      const status = countOf(objectOf(frame['error'])['code']);
      return [{ kind: 'refused', refusal: refusalInStream(frame, status) }];
    }
    const blocked = textOr(objectOf(frame['promptFeedback'])['blockReason']);
    if (blocked !== '')
      return [{ kind: 'refused', refusal: { meaning: 'request', status: 400, sentence: `the prompt was blocked: ${blocked}` } }];
    const records: ProviderRecord[] = [];
    if (isObject(frame['usageMetadata'])) records.push({ kind: 'usage', tokens: tokensOf(frame['usageMetadata']) });
    for (const candidate of listOf(frame['candidates'])) if (isObject(candidate)) this.#candidate(candidate, records);
    // The API has no terminal event: the last frame is the one that finishes the last choice.
    if (this.#finished.size === this.#nChoices) records.push({ kind: 'end' });
    return records;
  }

  #candidate(candidate: Json, records: ProviderRecord[]): void {
    const choice = countOf(candidate['index']) ?? 0;
    for (const part of listOf(objectOf(candidate['content'])['parts'])) if (isObject(part)) this.#part(choice, part, records);
    const reason = textOr(candidate['finishReason']);
    if (reason === '' || this.#finished.has(choice)) return;
    this.#finished.add(choice);
    const known = FINISH[reason] ?? 'content_filter';
    const isCalling = known === 'stop' && (this.#nCalls.get(choice) ?? 0) > 0;
    records.push({ kind: 'finish', choice, reason: isCalling ? 'tool_calls' : known });
  }

  #part(choice: number, part: Json, records: ProviderRecord[]): void {
    const text = textOr(part['text']);
    if (text !== '') records.push({ kind: part['thought'] === true ? 'reasoning' : 'content', choice, text });
    const call = part['functionCall'];
    let place = 'text';
    if (isObject(call)) {
      const index = this.#nCalls.get(choice) ?? 0;
      this.#nCalls.set(choice, index + 1);
      place = `call_${index}`;
      records.push({
        kind: 'call',
        choice,
        index,
        id: textOr(call['id']) || `call_${choice}_${index}`,
        name: textOr(call['name']),
      });
      records.push({ kind: 'arguments', choice, index, text: JSON.stringify(call['args'] ?? {}) });
    }
    const signature = textOr(part['thoughtSignature']);
    if (signature !== '') records.push({ kind: 'detail', choice, detail: { type: `gemini.${place}`, signature } });
  }
}

/** Thoughts are billed as output beside the answer's own. */
function tokensOf(usage: Json) {
  const thoughts = countOf(usage['thoughtsTokenCount']);
  const answer = countOf(usage['candidatesTokenCount']);
  const byModality = (name: string): number | undefined => {
    const found = listOf(usage['promptTokensDetails'])
      .map(objectOf)
      .find(({ modality }) => modality === name);
    return countOf(found?.['tokenCount']);
  };
  return defined({
    nPromptTokens: countOf(usage['promptTokenCount']),
    nCompletionTokens: answer === undefined && thoughts === undefined ? undefined : (answer ?? 0) + (thoughts ?? 0),
    nCacheReadTokens: countOf(usage['cachedContentTokenCount']),
    nReasoningTokens: thoughts,
    nAudioTokens: byModality('AUDIO'),
    nImageTokens: byModality('IMAGE'),
  });
}
