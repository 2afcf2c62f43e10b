/** Who waits for whom. */
import type { StagedLoad } from '../../load/load.ts';
import type { Trial } from '../../trial.ts';

const running: StagedLoad = { kind: 'staged', background: { clients: 4, ownWords: 32, maxTokens: 400 }, arrivals: [] };
const fourThousand = { label: 'long', afterMs: 0, ownWords: 4_000, maxTokens: 16 };

export const prefillStall: Trial = {
  name: 'prefill-stall',
  summary:
    'a prompt of 4,000 tokens arrives among 4 streams: their gaps stay near those without it, and the work as a whole takes no longer',
  rival: 'llama-server',
  server: { nParallel: 8, nCtx: 65_536 },
  // Four or five of eight slots: as in `streams`.
  fresh: 'round',
  phases: {
    idle: running,
    arrival: { ...running, arrivals: [fourThousand] },
    alone: { kind: 'staged', arrivals: [fourThousand] },
  },
  goals: [
    { figure: 'arrival.streamItlP99Ms', unit: 'ms', against: { baseline: 'idle.streamItlP99Ms' }, atMost: 2 },
    { figure: 'arrival.streamWorstGapMs', unit: 'ms', against: 'rival', atMost: 1.02 },
    { figure: 'arrival.makespanMs', unit: 'ms', against: 'rival', atMost: 1.02 },
    { figure: 'alone.longTtftMaxMs', unit: 'ms', against: 'rival', atMost: 1.02 },
    { figure: 'arrival.longTtftMaxMs', unit: 'ms', against: 'rival', atMost: 1.02 },
  ],
};

const sixThousand = { label: 'long', afterMs: 0, ownWords: 6_000, maxTokens: 16 };

export const shortBehindLong: Trial = {
  name: 'short-behind-long',
  summary: 'a prompt of 20 tokens comes 50 ms behind one of 6,000; prompts of one length must not pay for that order',
  rival: 'llama-server',
  server: { nParallel: 8, nCtx: 65_536 },
  phases: {
    alone: { kind: 'staged', arrivals: [sixThousand] },
    behind: { kind: 'staged', arrivals: [sixThousand, { label: 'short', afterMs: 50, ownWords: 20, maxTokens: 16 }] },
    uniform: { kind: 'closed', clients: 8, requestsPerClient: 1, ownWords: 500, maxTokens: 16 },
  },
  goals: [
    { figure: 'behind.shortTtftMaxMs', unit: 'ms', atMost: 150 },
    { figure: 'behind.shortTtftMaxMs', unit: 'ms', against: 'rival', atMost: 1.02 },
    { figure: 'behind.longTtftMaxMs', unit: 'ms', against: { baseline: 'alone.longTtftMaxMs' }, atMost: 1.05 },
    { figure: 'uniform.ttftP50Ms', unit: 'ms', against: 'rival', atMost: 1.02 },
    { figure: 'uniform.ttftP95Ms', unit: 'ms', against: 'rival', atMost: 1.02 },
  ],
};

const ask = { ownWords: 64, maxTokens: 64 };

export const overload: Trial = {
  name: 'overload',
  summary:
    'requests arrive at random, first at 0.7 and then at 2 times what the server can do: what still meets its SLO (TTFT < 1 s, ITL p99 < 50 ms)',
  rival: 'llama-server',
  server: { nParallel: 8, nCtx: 8_192, maxQueuedJobs: 16 },
  fresh: 'round',
  phases: {
    capacity: { kind: 'closed', clients: 8, requestsPerClient: 4, ...ask },
    moderate: { kind: 'poisson', rate: { times: 0.7, of: 'capacity.requestsPerSecond' }, seconds: 3, ...ask },
    overload: { kind: 'poisson', rate: { times: 2, of: 'capacity.requestsPerSecond' }, seconds: 3, ...ask },
  },
  goals: [
    { figure: 'overload.goodputPerSecond', unit: 'req/s', against: { baseline: 'capacity.goodputPerSecond' }, atLeast: 0.9 },
    { figure: 'overload.goodputPerSecond', unit: 'req/s', against: 'rival', atLeast: 0.98 },
    { figure: 'overload.refusalP99Ms', unit: 'ms', atMost: 5 },
    { figure: 'overload.retryAfterShare', unit: 'of 1', atLeast: 1 },
    { figure: 'overload.serverRssMiB', unit: 'MiB', against: { baseline: 'moderate.serverRssMiB' }, atMost: 1.05 },
    { figure: 'moderate.goodputPerSecond', unit: 'req/s', against: 'rival', atLeast: 0.98 },
    { figure: 'moderate.ttftP99Ms', unit: 'ms', against: 'rival', atMost: 1.02 },
  ],
};
