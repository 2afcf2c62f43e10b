import type { ChatShape } from '../load/chat-shape.ts';
import { makeWords } from './prompt.ts';

export interface Message {
  role: 'user' | 'assistant';
  content: string;
}

/**
 * Deaf to the end token, so that every server does the same work. Sampled, not greedy: greedy answers of random weights run in
 * circles, which would flatter whoever speculates. The sampler members are llama.cpp's defaults, named so that both sides use them.
 */
export function chatBody(messages: readonly Message[], maxTokens: number, seed: number, more: object = {}): string {
  return JSON.stringify({
    model: 'bench',
    messages,
    max_tokens: maxTokens,
    temperature: 0.8,
    top_k: 40,
    top_p: 0.95,
    min_p: 0.05,
    seed: seed % 2 ** 31,
    ignore_eos: true,
    stream: true,
    stream_options: { include_usage: true },
    ...more,
  });
}

/** @param own tells requests of one phase apart: the same number gives the same prompt on every server. */
export function shapedBody({ sharedWords = 0, ownWords, maxTokens, body }: ChatShape, seed: number, own: number): string {
  const ownSeed = (Math.imul(seed, 1_000_003) + own + 1) >>> 0;
  const shared = sharedWords > 0 ? `${makeWords(sharedWords, seed)} ` : '';
  return chatBody([{ role: 'user', content: shared + makeWords(ownWords, ownSeed) }], maxTokens, ownSeed, body);
}
