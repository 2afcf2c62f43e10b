/** Models and tenants that share one server. */
import type { TenantLoad } from '../../load/load.ts';
import type { Trial } from '../../trial.ts';

const models = ['model-1', 'model-2', 'model-3', 'model-4', 'model-5', 'model-6'];

export const modelSwitch: Trial = {
  name: 'model-switch',
  summary:
    'requests to 6 models drawn at random, where both servers may hold 3 by number, beside the router with a process for each: what a request that has to wait for a model takes',
  rival: 'llama-router',
  // An empty name is the suite's model.
  server: { nParallel: 4, nCtx: 4_096, models: Object.fromEntries(models.map((name) => [name, ''])), maxLoadedModels: 3 },
  phases: {
    requests: { kind: 'model-switch', requests: 24, models, nResident: 3, ownWords: 8, maxTokens: 4 },
  },
  goals: [
    { figure: 'requests.nFailed', unit: 'failed', atMost: 0 },
    { figure: 'requests.switchP50Ms', unit: 'ms', against: 'rival', atMost: 0.7 },
    { figure: 'requests.residentP50Ms', unit: 'ms', against: 'rival', atMost: 1.02 },
    { figure: 'requests.serverRssMiB', unit: 'MiB', against: 'rival' },
  ],
};

const quiet: TenantLoad = {
  kind: 'tenants',
  quiet: { requests: 8, pauseMs: 20, ownWords: 400, maxTokens: 8 },
};
const flood = { clients: 32, ownWords: 64, maxTokens: 64 };
/** Beside the flood each of these waits for seconds there. */
const forRival = { quiet: { ...quiet.quiet, requests: 1 } };

export const tenants: Trial = {
  name: 'tenants',
  summary:
    'a quiet tenant beside one that floods with chats, and with chats, embeddings and rankings: its time to first token, against being alone',
  rival: 'llama-server',
  server: {
    nParallel: 8,
    nCtx: 16_384,
    hasTenants: true,
    models: { embedding: 'random-embedding', rerank: 'random-rerank' },
  },
  fresh: 'round',
  phases: {
    alone: quiet,
    flooded: { ...quiet, flood, forRival },
    budget: { kind: 'tenant-budget', clients: 4, seconds: 3, ownWords: 80, maxTokens: 40, forRival: { seconds: 1 } },
    mixed: { ...quiet, flood: { ...flood, embeddingClients: 2, rerankClients: 2 }, forRival: { ...forRival, flood } },
  },
  goals: [
    { figure: 'flooded.ttftP99Ms', unit: 'ms', against: { baseline: 'alone.ttftP99Ms' }, atMost: 1.25 },
    { figure: 'mixed.ttftP99Ms', unit: 'ms', against: { baseline: 'alone.ttftP99Ms' }, atMost: 1.25 },
    { figure: 'flooded.ttftP99Ms', unit: 'ms', against: 'rival', atMost: 1.02 },
    // Not quite all: a request that might exceed what is left is refused.
    { figure: 'budget.budgetUsed', unit: 'of 1', atLeast: 0.9, atMost: 1 },
    { figure: 'flooded.nFailed', unit: 'failed', atMost: 0 },
  ],
};
