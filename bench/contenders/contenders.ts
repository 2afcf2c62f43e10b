import type { ContenderName } from '../trial.ts';
import { bareUws } from './bare-uws.ts';
import type { Contender } from './contender.ts';
import { llamaBatchedBench } from './llama-batched-bench.ts';
import { llamaRouter, llamaServer } from './llama-server.ts';
import { ours } from './ours.ts';
import { startedAnew } from './started-anew.ts';
import { svcEngine } from './svc-engine.ts';

export const contenders: Readonly<Record<ContenderName, Contender>> = {
  svc: ours,
  'svc-start': startedAnew(ours),
  'svc-engine': svcEngine,
  'bare-uws': bareUws,
  'llama-server': llamaServer,
  'llama-server-start': startedAnew(llamaServer),
  'llama-router': llamaRouter,
  'llama-batched-bench': llamaBatchedBench,
};
