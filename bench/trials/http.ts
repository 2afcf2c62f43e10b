/** What the platform adds to a request: routing, ids, access log, validation. */
import type { Trial } from '../trial.ts';

const metric = { name: 'requestsPerSecond', unit: 'req/s', better: 'higher' } as const;

export const httpTrials: readonly Trial[] = [
  {
    name: 'livez',
    summary: 'GET /livez against a bare uWebSockets.js handler',
    rival: 'bare-uws',
    load: { kind: 'wrk', path: '/livez', connections: 64, seconds: 2 },
    metric,
    goal: { of: 'ratio', atLeast: 0.6 },
  },
  {
    name: 'tokenize',
    summary: 'POST /tokenize of one sentence against the same bare handler, which tokenises nothing: informs, has no goal',
    rival: 'bare-uws',
    load: {
      kind: 'wrk',
      path: '/tokenize',
      connections: 64,
      seconds: 4,
      body: '{"content":"The quick brown fox jumps over the lazy dog."}',
    },
    metric,
  },
  {
    name: 'refusal',
    summary:
      'POST /v1/chat/completions without messages (400, refused by the schema) against the bare handler: informs, has no goal',
    rival: 'bare-uws',
    load: { kind: 'wrk', path: '/v1/chat/completions', connections: 64, seconds: 2, body: '{"model":"m"}' },
    metric,
  },
];
