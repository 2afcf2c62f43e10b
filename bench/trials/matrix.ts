/** Short forms of the serving trials: what `serving --machine-matrix` runs on each machine that it emulates. */
import type { ClosedLoad, StagedLoad } from '../load/load.ts';
import type { Goal, Trial } from '../trial.ts';

const asFast = 0.95;

const prompt = (ownWords: number): StagedLoad => ({
  kind: 'staged',
  arrivals: [{ label: 'prompt', afterMs: 0, ownWords, maxTokens: 2 }],
});
const promptGoal = (phase: string): Goal => ({
  figure: `${phase}.promptTtftMaxMs`,
  unit: 'ms',
  against: 'rival',
  atMost: 1 / asFast,
});

const lonePrompt: Trial = {
  name: 'lone-prompt',
  summary: 'prompts of 512, 4,000 and 16,000 tokens, each alone: nobody waits for it to leave room',
  rival: 'llama-server',
  server: { nParallel: 1, nCtx: 20_480 },
  phases: { short: prompt(512), long: prompt(4_000), deep: prompt(16_000) },
  goals: ['short', 'long', 'deep'].map(promptGoal),
};

const chats = (clients: number, maxTokens: number): ClosedLoad => ({
  kind: 'closed',
  clients,
  requestsPerClient: 1,
  ownWords: 24,
  maxTokens,
});

const fewStreams: Trial = {
  name: 'matrix-streams',
  summary: '1, 4 and 32 streamed chats at once',
  rival: 'llama-server',
  fresh: 'round',
  phases: { one: { ...chats(1, 128), requestsPerClient: 2 }, four: chats(4, 128), many: chats(32, 64) },
  goals: ['one', 'four', 'many'].map((phase) => ({
    figure: `${phase}.tokensPerSecond`,
    unit: 'tok/s',
    against: 'rival',
    atLeast: asFast,
  })),
};

const running: StagedLoad = { kind: 'staged', background: { clients: 4, ownWords: 32, maxTokens: 200 }, arrivals: [] };

const promptBesideStreams: Trial = {
  name: 'prompt-beside-streams',
  summary: 'a prompt of 2,000 tokens arrives among 4 streams: all is done as soon, and their gaps stay short',
  rival: 'llama-server',
  server: { nParallel: 8, nCtx: 32_768 },
  fresh: 'round',
  phases: {
    idle: running,
    arrival: { ...running, arrivals: [{ label: 'long', afterMs: 0, ownWords: 2_000, maxTokens: 16 }] },
  },
  goals: [
    { figure: 'arrival.makespanMs', unit: 'ms', against: 'rival', atMost: 1.1 },
    { figure: 'arrival.streamItlP99Ms', unit: 'ms', against: { baseline: 'idle.streamItlP99Ms' }, atMost: 3 },
  ],
};

const capacity: Trial = {
  name: 'capacity',
  summary: '8 clients without a pause: requests a second before anything is too much',
  rival: 'llama-server',
  server: { nParallel: 8, nCtx: 8_192 },
  fresh: 'round',
  phases: { capacity: { kind: 'closed', clients: 8, requestsPerClient: 3, ownWords: 64, maxTokens: 48 } },
  goals: [{ figure: 'capacity.requestsPerSecond', unit: 'req/s', against: 'rival', atLeast: 1 }],
};

export const matrixTrials: readonly Trial[] = [lonePrompt, fewStreams, promptBesideStreams, capacity];
