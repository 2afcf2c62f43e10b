/** The serving loop under streamed chats, beside llama-server with the same model file, threads, slots and context. */
import type { Trial } from '../trial.ts';

export const servingTrials: readonly Trial[] = [
  {
    name: 'shared-prefix',
    summary: '8 requests at once share about 1,000 prompt tokens and add about 20 each: prompt tokens that had to be computed',
    rival: 'llama-server',
    load: { kind: 'chat', clients: 8, requestsPerClient: 1, sharedWords: 900, ownWords: 18, maxTokens: 32 },
    metric: { name: 'promptTokensEvaluated', unit: 'tokens', better: 'lower' },
    goal: { of: 'ratio', atMost: 0.16 },
  },
  {
    name: 'shared-prefix-ttft',
    summary: 'the same requests: time to first token, 95th percentile',
    rival: 'llama-server',
    load: { kind: 'chat', clients: 8, requestsPerClient: 1, sharedWords: 900, ownWords: 18, maxTokens: 32 },
    metric: { name: 'ttftP95Ms', unit: 'ms', better: 'lower' },
    goal: { of: 'ratio', atMost: 0.3 },
  },
  {
    name: 'streams-32',
    summary: '32 streamed chats at once: completion tokens a second over all of them',
    rival: 'llama-server',
    load: { kind: 'chat', clients: 32, requestsPerClient: 2, sharedWords: 0, ownWords: 24, maxTokens: 128 },
    metric: { name: 'tokensPerSecond', unit: 'tok/s', better: 'higher' },
    goal: { of: 'ratio', atLeast: 0.98 },
  },
];
