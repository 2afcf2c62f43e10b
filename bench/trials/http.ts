/** What the platform adds to a request: routing, ids, access log, validation. */
import type { WrkLoad } from '../load/load.ts';
import type { Goal, Trial } from '../trial.ts';

const compared: Goal = { figure: 'requests.requestsPerSecond', unit: 'req/s', against: 'rival' };

function trial(name: string, summary: string, load: Omit<WrkLoad, 'kind' | 'connections'>, goal: Goal): Trial {
  return {
    name,
    summary,
    rival: 'bare-uws',
    phases: { requests: { kind: 'wrk', connections: 64, ...load } },
    goals: [goal],
  };
}

export const httpTrials: readonly Trial[] = [
  trial(
    'livez',
    'GET /livez against a bare uWebSockets.js handler',
    { path: '/livez', seconds: 2 },
    { ...compared, atLeast: 0.6 },
  ),
  trial(
    'tokenize',
    'POST /tokenize of one sentence against the same bare handler, which tokenises nothing: informs, has no goal',
    { path: '/tokenize', seconds: 4, body: '{"content":"The quick brown fox jumps over the lazy dog."}' },
    compared,
  ),
  trial(
    'refusal',
    'POST /v1/chat/completions without messages (400, refused by the schema) against the bare handler: informs, has no goal',
    { path: '/v1/chat/completions', seconds: 2, body: '{"model":"m"}' },
    compared,
  ),
  {
    name: 'credential',
    summary: 'what a key adds to a request that needs none: looked up by its hash, without the database',
    server: { hasTenants: true },
    phases: { requests: { kind: 'credentials', path: '/api/v1/system/version', requests: 20_000 } },
    goals: [
      { figure: 'requests.addedP50Micros', unit: 'us', atMost: 40 },
      { figure: 'requests.authenticatedP50Micros', unit: 'us', against: { baseline: 'requests.plainP50Micros' } },
    ],
  },
];
