/** The events of Anthropic's Messages -> records. */
import type { FinishReason } from '../../../../native/llama-shapes.ts';
import { countOf, type Json, objectOf, parseFrame, textOr } from '../json.ts';
import type { FrameReader, ProviderFrame, ProviderRecord, ProviderTokens } from '../kind.ts';
import { defined } from '../openai/frames.ts';
import { refusalInStream } from '../refusal.ts';

const FINISH: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

interface Block {
  readonly type: string;
  /** Number of the call among the calls. */
  readonly call: number;
  text: string;
  signature: string;
}

export class AnthropicReader implements FrameReader {
  readonly #blocks = new Map<number, Block>();
  #nCalls = 0;

  push({ event, data }: ProviderFrame): ProviderRecord[] {
    const frame = parseFrame(data);
    switch (textOr(frame['type']) || event) {
      case 'message_start':
        return [usageRecord(objectOf(objectOf(frame['message'])['usage']))];
      case 'content_block_start':
        return this.#start(countOf(frame['index']) ?? 0, objectOf(frame['content_block']));
      case 'content_block_delta':
        return this.#delta(this.#blocks.get(countOf(frame['index']) ?? 0), objectOf(frame['delta']));
      case 'content_block_stop':
        return this.#stop(this.#blocks.get(countOf(frame['index']) ?? 0));
      case 'message_delta':
        return messageDelta(frame);
      case 'message_stop':
        return [{ kind: 'end' }];
      case 'error':
        return [{ kind: 'refused', refusal: refusalInStream(frame, undefined) }];
      default:
        return [];
    }
  }

  #start(index: number, block: Json): ProviderRecord[] {
    const type = textOr(block['type']);
    this.#blocks.set(index, { type, call: this.#nCalls, text: '', signature: '' });
    if (type === 'redacted_thinking')
      return [{ kind: 'detail', choice: 0, detail: { type: 'redacted_thinking', data: textOr(block['data']) } }];
    if (type === 'text' && textOr(block['text']) !== '') return [{ kind: 'content', choice: 0, text: textOr(block['text']) }];
    if (type !== 'tool_use') return [];
    return [{ kind: 'call', choice: 0, index: this.#nCalls++, id: textOr(block['id']), name: textOr(block['name']) }];
  }

  #delta(block: Block | undefined, delta: Json): ProviderRecord[] {
    switch (delta['type']) {
      case 'text_delta':
        return record('content', textOr(delta['text']));
      case 'thinking_delta': {
        const text = textOr(delta['thinking']);
        if (block !== undefined) block.text += text;
        return record('reasoning', text);
      }
      case 'signature_delta':
        if (block !== undefined) block.signature += textOr(delta['signature']);
        return [];
      case 'input_json_delta': {
        const text = textOr(delta['partial_json']);
        return text === '' || block === undefined ? [] : [{ kind: 'arguments', choice: 0, index: block.call, text }];
      }
      default:
        return [];
    }
  }

  #stop(block: Block | undefined): ProviderRecord[] {
    if (block?.type !== 'thinking' || block.signature === '') return [];
    const { text, signature } = block;
    return [{ kind: 'detail', choice: 0, detail: { type: 'thinking', text, signature } }];
  }
}

function record(kind: 'content' | 'reasoning', text: string): ProviderRecord[] {
  return text === '' ? [] : [{ kind, choice: 0, text }];
}

function messageDelta(frame: Json): ProviderRecord[] {
  const delta = objectOf(frame['delta']);
  const reason = textOr(delta['stop_reason']);
  const stopString = textOr(delta['stop_sequence']);
  const usage = usageRecord(objectOf(frame['usage']));
  if (reason === '') return [usage];
  return [usage, { kind: 'finish', choice: 0, reason: FINISH[reason] ?? 'stop', stopString }];
}

function usageRecord(usage: Json): ProviderRecord {
  return { kind: 'usage', tokens: anthropicTokens(usage) };
}

/** Anthropic's input leaves out what was read from the cache and written to it; later totals take the place of earlier ones. */
function anthropicTokens(usage: Json): Partial<ProviderTokens> {
  const read = countOf(usage['cache_read_input_tokens']);
  const written = countOf(usage['cache_creation_input_tokens']);
  const creation = objectOf(usage['cache_creation']);
  const write1h = countOf(creation['ephemeral_1h_input_tokens']);
  const write5m =
    countOf(creation['ephemeral_5m_input_tokens']) ?? (written === undefined ? undefined : written - (write1h ?? 0));
  const input = countOf(usage['input_tokens']);
  return defined({
    nPromptTokens: input === undefined ? undefined : input + (read ?? 0) + (written ?? 0),
    nCompletionTokens: countOf(usage['output_tokens']),
    nCacheReadTokens: read,
    nCacheWrite5mTokens: write5m,
    nCacheWrite1hTokens: write1h,
  });
}
