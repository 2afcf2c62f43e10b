/** Clients that leave, that wait in thousands, and that read for a long time. */
import type { AbortLoad, LongStreamLoad } from '../../load/load.ts';
import type { Goal, Trial } from '../../trial.ts';

const abort = (state: AbortLoad['state']): AbortLoad => ({ kind: 'aborts', state, slots: 4, victims: 1, answerTimeoutMs: 1_000 });
/** A step, plus 50 ms; a step of 4 sequences takes a few. */
const freed = (phase: string): Goal => ({ figure: `${phase}.slotFreedMs`, unit: 'ms', atMost: 60 });
const silent = (phase: string): Goal => ({ figure: `${phase}.cpuForTheGoneMs`, unit: 'ms of 500', atMost: 30 });

export const aborts: Trial = {
  name: 'aborts',
  summary:
    'clients leave while others stream (queued, in prefill, in decode, without a stream): when their slot is free, and what is computed for nobody',
  rival: 'llama-server',
  server: { nParallel: 4, nCtx: 32_768 },
  fresh: 'round',
  phases: {
    decode: abort('decode'),
    queued: abort('queued'),
    prefill: abort('prefill'),
    storm: {
      kind: 'abort-storm',
      aborts: 320,
      concurrency: 16,
      survivors: { clients: 2, ownWords: 24, maxTokens: 400 },
      forRival: { aborts: 120 },
    },
    // Last, as the rival computes for those who left long after.
    gathered: abort('gathered'),
  },
  goals: [
    ...['decode', 'queued', 'gathered', 'prefill'].map(freed),
    ...['decode', 'queued', 'gathered', 'prefill'].map(silent),
    { figure: 'storm.survivorsDamaged', unit: 'streams', atMost: 0 },
  ],
};

export const idleStreams: Trial = {
  name: 'idle-streams',
  summary:
    '10,000 open requests behind 4 active streams (the rival gets 900): what they cost the probes, the streams and the memory',
  rival: 'llama-server',
  server: { nParallel: 4, nCtx: 65_536, maxConnections: 16_000, maxQueuedJobs: 20_000, maxQueueSeconds: 0 },
  fresh: 'phase',
  phases: {
    open: {
      kind: 'idle-streams',
      active: 4,
      idle: 10_000,
      openPerSecond: 4_000,
      // A request that waits gets its headers after 5 s.
      settleSeconds: 6,
      seconds: 2,
      forRival: { idle: 900, settleSeconds: 1 },
    },
  },
  goals: [
    { figure: 'open.nIdleWithHeaders', unit: 'connections', against: { baseline: 'open.nIdle' }, atLeast: 1 },
    { figure: 'open.healthP99Ms', unit: 'ms', atMost: 10 },
    // No bound: the rival opens a tenth as many.
    { figure: 'open.healthWhileOpeningP99Ms', unit: 'ms', against: 'rival' },
    { figure: 'open.framesPerSecond', unit: 'tok/s', against: { baseline: 'open.framesPerSecondAlone' }, atLeast: 0.95 },
    // 150 MB.
    { figure: 'open.rssGrowthMiB', unit: 'MiB', atMost: 143 },
    { figure: 'open.nIdleEnded', unit: 'connections', atMost: 0 },
  ],
};

const delayed = (figure: string): Goal => ({ figure: `beside.${figure}DelayP99Ms`, unit: 'ms', atMost: 25 });
const bodies = ['text', 'images', 'nesting', 'prototypes', 'values'] as const;
const sizesMb = [1, 10, 100] as const;

export const largeBodies: Trial = {
  name: 'large-bodies',
  summary:
    'requests of 1, 10 and 100 MB beside 16 streams: by how much the streams’ gaps at p99 exceed their median without them',
  rival: 'llama-server',
  model: 'tiny',
  server: { nParallel: 17, nCtx: 34_816 },
  phases: {
    beside: {
      kind: 'large-bodies',
      streams: 16,
      bodies,
      sizesMb,
      times: 3,
      idleSeconds: 3,
      // It parses on the threads that serve, for seconds.
      forRival: { sizesMb: [1, 10], times: 1 },
    },
  },
  goals: [
    ...bodies.flatMap((body) => sizesMb.map((size) => delayed(`${body}${size}Mb`))),
    { figure: 'beside.idleP99Ms', unit: 'ms' },
    { figure: 'beside.worstDelayMs', unit: 'ms' },
    { figure: 'beside.nFailed', unit: 'requests', atMost: 0 },
  ],
};

/** As many tokens, and as deep in the context, as a long stream has on average: its pace is then the long one's. */
const shortStream: LongStreamLoad = { kind: 'long-stream', promptWords: 2_600, tokens: 1_000 };

export const longStreams: Trial = {
  name: 'long-streams',
  summary:
    'a stream of 6,000 tokens: CPU time of the threads beside the computing one, for each token, is that of a stream of 1,000 in the same depth',
  rival: 'llama-server',
  model: 'tiny',
  // One compute thread, so that the others' time is not matrix work.
  server: { nParallel: 1, nCtx: 10_240, nThreads: 1 },
  phases: { short: shortStream, long: { kind: 'long-stream', promptWords: 8, tokens: 6_000 } },
  goals: [
    {
      figure: 'long.streamCpuMicrosPerToken',
      unit: 'us',
      against: { baseline: 'short.streamCpuMicrosPerToken' },
      atMost: 1.25,
    },
    { figure: 'long.streamCpuMicrosPerToken', unit: 'us', against: 'rival', atMost: 1.02 },
    { figure: 'long.tokensPerSecond', unit: 'tok/s', against: 'rival', atLeast: 0.98 },
  ],
};
