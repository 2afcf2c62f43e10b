/** The same trials in a fraction of the time; their figures are for a first look only. */
import type { SpeechLoad } from '../media/speech-load.ts';
import type { Phase, Trial } from '../trial.ts';
import type { Load } from './load.ts';

export function quicken(trial: Trial): Trial {
  const phases = Object.entries(trial.phases).map(([name, phase]): [string, Phase] => [name, quickPhase(phase)]);
  return { ...trial, phases: Object.fromEntries(phases) };
}

function quickPhase({ forRival, ...load }: Phase): Phase {
  const quick = quickLoad(load as Load);
  return forRival ? ({ ...quick, forRival: quickLoad({ ...load, ...forRival } as Load) } as Phase) : quick;
}

function quickLoad(load: Load): Load {
  switch (load.kind) {
    case 'wrk':
      return { ...load, seconds: 1 };
    case 'closed':
      return { ...load, requestsPerClient: 1, maxTokens: Math.min(load.maxTokens, 64) };
    case 'poisson':
      return { ...load, seconds: Math.min(load.seconds, 2) };
    case 'conversations':
      return { ...load, turns: Math.min(load.turns, 2) };
    case 'aborts':
      return { ...load, victims: 1, answerTimeoutMs: Math.min(load.answerTimeoutMs, 1_000) };
    case 'abort-storm':
      return { ...load, aborts: Math.min(load.aborts, 40) };
    case 'idle-streams':
      return { ...load, idle: Math.min(load.idle, 500), seconds: 1 };
    case 'tenants':
      return { ...load, quiet: { ...load.quiet, requests: Math.min(load.quiet.requests, 10) } };
    case 'credentials':
      return { ...load, requests: Math.min(load.requests, 3_000) };
    case 'model-switch':
      return { ...load, requests: Math.min(load.requests, 12) };
    case 'long-stream':
      return { ...load, tokens: Math.ceil(load.tokens / 4) };
    case 'large-bodies':
      return { ...load, times: 1, idleSeconds: 1 };
    case 'kernel':
      return { ...load, nRepeats: 1, nPrompt: Math.min(load.nPrompt, 128), nGenerate: Math.min(load.nGenerate, 32) };
    case 'embeddings':
      return { ...load, nTexts: Math.max(load.clients, Math.ceil(load.nTexts / 8)) };
    case 'vectors':
      return {
        ...load,
        count: Math.min(load.count, 2_000),
        queries: Math.min(load.queries, 40),
        addingSeconds: Math.min(load.addingSeconds, 1),
      };
    case 'speech':
      return quickSpeech(load);
    case 'logs':
      return { ...load, nLines: 20_000, nCollected: Math.min(load.nCollected, 10_000), searches: 20 };
    case 'quotes':
      return { ...load, nPassages: 1_000, nReplies: 50 };
    case 'ingest':
      return { ...load, nFiles: Math.min(load.nFiles, 60), idleSeconds: Math.min(load.idleSeconds, 5) };
    case 'cloud-requests':
      return { ...load, seconds: 3 };
    case 'cloud-streams':
      return { ...load, streams: 200, seconds: 2 };
    case 'tool-rounds':
      return { ...load, chats: 80 };
    case 'mcp-calls':
      return { ...load, calls: 120 };
    case 'devices':
      return { ...load, devices: 200, seconds: 5 };
    case 'durable-steps':
      return { ...load, goals: 5 };
    case 'start':
    case 'tenant-budget':
    case 'staged':
      return load;
  }
}

function quickSpeech(load: SpeechLoad): SpeechLoad {
  switch (load.task) {
    case 'files':
      return { ...load, files: Math.min(load.files, 4), seconds: Math.min(load.seconds, 30) };
    case 'chat':
      return { ...load, tokens: 200 };
    case 'cancel':
      return { ...load, times: 1 };
    case 'many':
      return { ...load, few: 10, many: 20 };
    case 'long':
      return { ...load, hours: 0.05 };
    case 'behind':
      return load;
  }
}
