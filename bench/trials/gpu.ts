/** On a GPU, beside llama-server of the same source with the same model: what the kernels compute, what of it arrives, and who waits for whom. */
import type { ClosedLoad, StagedLoad } from '../load/load.ts';
import type { Trial } from '../trial.ts';
import { kernelTrials } from './kernels.ts';

const chats = (clients: number, requestsPerClient: number): ClosedLoad => ({
  kind: 'closed',
  clients,
  requestsPerClient,
  ownWords: 24,
  maxTokens: 256,
});

const streams: Trial = {
  name: 'streams',
  summary: '1 and 32 streamed chats at once: completion tokens a second, and the gaps between them',
  rival: 'llama-server',
  fresh: 'round',
  phases: { one: chats(1, 8), many: chats(32, 4) },
  goals: [
    { figure: 'one.tokensPerSecond', unit: 'tok/s', against: 'rival', atLeast: 0.98 },
    { figure: 'many.tokensPerSecond', unit: 'tok/s', against: 'rival', atLeast: 0.98 },
    { figure: 'many.itlP99Ms', unit: 'ms', against: 'rival', atMost: 1.02 },
  ],
};

const running: StagedLoad = { kind: 'staged', background: { clients: 16, ownWords: 32, maxTokens: 800 }, arrivals: [] };
const long = { label: 'long', afterMs: 0, ownWords: 32_000, maxTokens: 16 };

const longPrompt: Trial = {
  name: 'long-prompt',
  summary: 'a prompt of 32,000 tokens arrives among 16 streams: their gaps stay near those without it',
  rival: 'llama-server',
  server: { nParallel: 32, nCtx: 131_072, kvUnified: true },
  fresh: 'round',
  phases: { idle: running, arrival: { ...running, arrivals: [long] } },
  goals: [
    { figure: 'arrival.streamItlP99Ms', unit: 'ms', against: { baseline: 'idle.streamItlP99Ms' }, atMost: 2 },
    { figure: 'arrival.makespanMs', unit: 'ms', against: 'rival', atMost: 1.02 },
  ],
};

export const gpuTrials: readonly Trial[] = [
  ...kernelTrials.filter(({ name }) => name === 'single-stream' || name === 'sequences-32'),
  streams,
  longPrompt,
];
