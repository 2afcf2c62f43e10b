/** How long until a model answers: from nothing, and in the place of another one. The model files lie in the page cache. */
import type { Trial } from '../trial.ts';

const start: Trial = {
  name: 'start',
  summary: 'from the start of the process to the first token of an answer, and what the process then holds in memory',
  ours: 'svc-start',
  rival: 'llama-server-start',
  phases: { cold: { kind: 'start' } },
  goals: [
    { figure: 'cold.firstTokenMs', unit: 'ms', against: 'rival', atMost: 1.02 },
    { figure: 'cold.readyMs', unit: 'ms', against: 'rival' },
    { figure: 'cold.ttftMs', unit: 'ms', against: 'rival' },
    { figure: 'cold.emptyFirstTokenMs', unit: 'ms', against: 'rival' },
    { figure: 'cold.rssMiB', unit: 'MiB', against: 'rival' },
  ],
};

const packagedStart: Trial = {
  ...start,
  name: 'start-packaged',
  summary: 'the same of the program that a package installs, whose `svc version` is timed too',
  ours: 'svc-packaged-start',
  goals: [
    { figure: 'cold.firstTokenMs', unit: 'ms', against: 'rival', atMost: 1.2 },
    { figure: 'cold.httpMs', unit: 'ms', atMost: 150 },
    { figure: 'cold.versionMs', unit: 'ms', atMost: 60 },
    { figure: 'cold.readyMs', unit: 'ms', against: 'rival' },
    { figure: 'cold.emptyFirstTokenMs', unit: 'ms', against: 'rival' },
    { figure: 'cold.rssMiB', unit: 'MiB', against: 'rival' },
  ],
};

const switches: Trial = {
  name: 'switch',
  summary: 'two models take turns where one has room: from the request to its whole short answer, loading included',
  rival: 'llama-router',
  // An empty name is the suite's model.
  server: { models: { first: '', second: '' }, maxLoadedModels: 1 },
  phases: {
    turns: {
      kind: 'model-switch',
      models: ['first', 'second'],
      nResident: 1,
      requests: 24,
      body: {},
      ownWords: 8,
      maxTokens: 1,
    },
  },
  goals: [
    { figure: 'turns.switchP50Ms', unit: 'ms', against: 'rival', atMost: 0.7 },
    { figure: 'turns.switchP99Ms', unit: 'ms', against: 'rival', atMost: 1.02 },
    { figure: 'turns.residentP50Ms', unit: 'ms', against: 'rival', atMost: 1.02 },
    { figure: 'turns.nFailed', unit: 'failed', atMost: 0 },
    { figure: 'turns.serverRssMiB', unit: 'MiB', against: 'rival' },
  ],
};

export const loadTrials: readonly Trial[] = [start, packagedStart, switches];
