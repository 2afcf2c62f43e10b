/** Prompt tokens that need not be computed, and a KV cache that is too small for everyone. */
import type { Trial } from '../../trial.ts';

export const sharedPrefix: Trial = {
  name: 'shared-prefix',
  summary: '8 requests at once share about 1,000 prompt tokens and add about 20 each; 8 unrelated ones must not pay for that',
  rival: 'llama-server',
  server: { nParallel: 8, nCtx: 16_384 },
  phases: {
    burst: { kind: 'closed', clients: 8, requestsPerClient: 1, sharedWords: 960, ownWords: 18, maxTokens: 32 },
    unrelated: { kind: 'closed', clients: 8, requestsPerClient: 1, ownWords: 64, maxTokens: 192 },
  },
  goals: [
    { figure: 'burst.promptTokensEvaluated', unit: 'tokens', atMost: 1_300 },
    { figure: 'burst.promptTokensEvaluated', unit: 'tokens', against: 'rival' },
    { figure: 'burst.ttftP95Ms', unit: 'ms', against: 'rival', atMost: 0.3 },
    { figure: 'unrelated.tokensPerSecond', unit: 'tok/s', against: 'rival', atLeast: 0.98 },
  ],
};

export const conversations: Trial = {
  name: 'conversations',
  summary:
    '32 chats of 3 turns with KV for 4 of them: what a turn has in common with the last one is not computed again, and nobody stalls',
  rival: 'llama-server',
  server: { nParallel: 4, nCtx: 4_096 },
  fresh: 'round',
  phases: {
    chats: { kind: 'conversations', clients: 32, turns: 3, wordsPerTurn: 120, answerWords: 60, maxTokens: 24 },
  },
  goals: [
    { figure: 'chats.evaluatedPerNewToken', unit: 'x', atMost: 1.1 },
    { figure: 'chats.worstGapMs', unit: 'ms', atMost: 20 },
    { figure: 'chats.tokensPerSecond', unit: 'tok/s', against: 'rival', atLeast: 0.98 },
    { figure: 'chats.ttftP50Ms', unit: 'ms', against: 'rival', atMost: 1.02 },
  ],
};

export const kvFull: Trial = {
  name: 'kv-full',
  summary: '12 chats, 4 at a time, whose answers together need twice the KV cells there are: all must complete',
  rival: 'llama-server',
  server: { nParallel: 4, nCtx: 1_024, kvUnified: true },
  fresh: 'round',
  phases: {
    chats: { kind: 'closed', clients: 12, requestsPerClient: 1, ownWords: 100, maxTokens: 300, mayFail: true },
  },
  goals: [
    { figure: 'chats.nFailed', unit: 'failed', atMost: 0 },
    // No bound: the rival's requests may all fail, and then there is no ratio.
    { figure: 'chats.tokensPerSecond', unit: 'tok/s', against: 'rival' },
  ],
};
