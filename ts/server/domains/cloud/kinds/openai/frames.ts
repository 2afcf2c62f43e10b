/** The chunks of OpenAI's chat completions -> records. */
import type { FinishReason, TokenLogprob } from '../../../../native/llama-shapes.ts';
import { countOf, isObject, type Json, listOf, objectOf, parseFrame, textOr } from '../json.ts';
import { BrokenFrame, type FrameReader, type ProviderFrame, type ProviderRecord, type ProviderTokens } from '../kind.ts';
import { refusalInStream } from '../refusal.ts';

const FINISH: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
};

/** Calls of all choices count, also of those that nobody asked for. */
const MOST_BEGUN = 16_384;

export class OpenAiReader implements FrameReader {
  /** Calls that have begun, by choice and index: a provider names the function once, or each time. */
  readonly #begun = new Set<string>();

  push({ data }: ProviderFrame): ProviderRecord[] {
    if (data === '[DONE]') return [{ kind: 'end' }];
    const chunk = parseFrame(data);
    if (chunk['error'] !== undefined && chunk['error'] !== null) {
      const status = Number(objectOf(chunk['error'])['code'] ?? objectOf(chunk['error'])['status']);
      return [{ kind: 'refused', refusal: refusalInStream(chunk, status >= 400 && status < 600 ? status : undefined) }];
    }
    const records: ProviderRecord[] = [];
    for (const choice of listOf(chunk['choices'])) if (isObject(choice)) this.#choice(choice, records);
    const usage = chunk['usage'];
    // It comes with empty choices, with the last ones, twice, or with each.
    if (isObject(usage)) records.push({ kind: 'usage', tokens: openAiTokens(usage) });
    return records;
  }

  #choice(choice: Json, records: ProviderRecord[]): void {
    const index = countOf(choice['index']) ?? 0;
    const delta = objectOf(choice['delta'] ?? choice['message']);
    const reasoning = textOr(delta['reasoning_content']) || textOr(delta['reasoning']);
    if (reasoning !== '') records.push({ kind: 'reasoning', choice: index, text: reasoning });
    for (const detail of listOf(delta['reasoning_details'])) addDetail(index, detail, records);
    const tokens = listOf(objectOf(choice['logprobs'])['content']);
    if (tokens.length > 0) records.push({ kind: 'logprobs', choice: index, tokens: tokens.map(logprobOf) });
    const text = textOr(delta['content']) || textOr(delta['refusal']);
    if (text !== '') records.push({ kind: 'content', choice: index, text });
    for (const [place, call] of listOf(delta['tool_calls']).entries())
      if (isObject(call)) this.#call(index, countOf(call['index']) ?? place, call, records);
    const finish = choice['finish_reason'];
    if (typeof finish === 'string') records.push({ kind: 'finish', choice: index, reason: FINISH[finish] ?? 'stop' });
  }

  #call(choice: number, index: number, call: Json, records: ProviderRecord[]): void {
    const target = objectOf(call['function']);
    const key = `${choice} ${index}`;
    if (!this.#begun.has(key)) {
      if (this.#begun.size >= MOST_BEGUN) throw new BrokenFrame('it makes too many calls');
      this.#begun.add(key);
      const id = textOr(call['id']) || `call_${choice}_${index}`;
      records.push({ kind: 'call', choice, index, id, name: textOr(target['name']) });
    }
    const text = isObject(target['arguments']) ? JSON.stringify(target['arguments']) : textOr(target['arguments']);
    if (text !== '') records.push({ kind: 'arguments', choice, index, text });
  }
}

/** Texts of thoughts come as deltas beside them; what is signed or hidden is handed on whole. */
function addDetail(choice: number, value: unknown, records: ProviderRecord[]): void {
  const { type, text, signature, data } = objectOf(value);
  if (typeof type !== 'string' || (typeof signature !== 'string' && typeof data !== 'string')) return;
  const detail = {
    type,
    ...(typeof text === 'string' && { text }),
    ...(typeof signature === 'string' && { signature }),
    ...(typeof data === 'string' && { data }),
  };
  records.push({ kind: 'detail', choice, detail });
}

function logprobOf(value: unknown): TokenLogprob {
  const entry = (token: Json) => ({
    // Ids are not told.
    token: -1,
    logprob: typeof token['logprob'] === 'number' ? token['logprob'] : Number.NEGATIVE_INFINITY,
    bytes: Array.isArray(token['bytes']) ? Buffer.from(token['bytes'] as number[]) : Buffer.from(textOr(token['token'])),
  });
  const token = objectOf(value);
  return { ...entry(token), top: listOf(token['top_logprobs']).map((one) => entry(objectOf(one))) };
}

function openAiTokens(usage: Json): Partial<ProviderTokens> {
  const prompt = objectOf(usage['prompt_tokens_details']);
  const completion = objectOf(usage['completion_tokens_details']);
  const cacheWrite = countOf(prompt['cache_write_tokens']);
  return defined({
    nPromptTokens: countOf(usage['prompt_tokens']),
    nCompletionTokens: countOf(usage['completion_tokens']),
    nCacheReadTokens: countOf(prompt['cached_tokens']) ?? countOf(usage['prompt_cache_hit_tokens']),
    nCacheWrite5mTokens: cacheWrite,
    nReasoningTokens: countOf(completion['reasoning_tokens']),
    nAudioTokens: sumOf(prompt['audio_tokens'], completion['audio_tokens']),
    nImageTokens: countOf(prompt['image_tokens']),
  });
}

function sumOf(...values: unknown[]): number | undefined {
  const counts = values.map(countOf).filter((count) => count !== undefined);
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}

/** What is not reported leaves what was reported before as it is. */
export function defined(tokens: { [K in keyof ProviderTokens]?: number | undefined }): Partial<ProviderTokens> {
  return Object.fromEntries(Object.entries(tokens).filter(([, value]) => value !== undefined)) as Partial<ProviderTokens>;
}
