import type { ContenderName } from '../trial.ts';
import { bareMcp, dbos, svcAgents, svcGoals } from './agent-servers.ts';
import { bareUws } from './bare-uws.ts';
import { bareProxy, litellm, svcCloud } from './cloud-proxies.ts';
import type { Contender } from './contender.ts';
import { bareDevices, svcDevices } from './device-clients.ts';
import { ingestByHand, svcIngest } from './knowledge-servers.ts';
import { llamaBatchedBench } from './llama-batched-bench.ts';
import { llamaRouter, llamaServer } from './llama-server.ts';
import { logRivals, svcLogs } from './log-searchers.ts';
import { before, ours } from './ours.ts';
import { packaged, packagedCommand } from './packaged.ts';
import { svcSpeech, whisperServer } from './speech-servers.ts';
import { startedAnew } from './started-anew.ts';
import { svcEngine, svcEngineBefore } from './svc-engine.ts';
import { svcVectors, vectorRivals } from './vector-libraries.ts';

export const contenders: Readonly<Record<ContenderName, Contender>> = {
  svc: ours,
  'svc-before': before,
  'svc-start': startedAnew(ours),
  'svc-packaged-start': startedAnew(packaged, packagedCommand),
  'svc-engine': svcEngine,
  'svc-engine-before': svcEngineBefore,
  'bare-uws': bareUws,
  'llama-server': llamaServer,
  'llama-server-start': startedAnew(llamaServer),
  'llama-router': llamaRouter,
  'llama-batched-bench': llamaBatchedBench,
  'svc-vectors': svcVectors,
  'vector-rivals': vectorRivals,
  'svc-ingest': svcIngest,
  'ingest-by-hand': ingestByHand,
  'svc-cloud': svcCloud,
  'bare-proxy': bareProxy,
  litellm,
  'svc-agents': svcAgents,
  'bare-mcp': bareMcp,
  'svc-goals': svcGoals,
  dbos,
  'svc-devices': svcDevices,
  'bare-devices': bareDevices,
  'svc-logs': svcLogs,
  'log-rivals': logRivals,
  'svc-speech': svcSpeech,
  'whisper-server': whisperServer,
};
