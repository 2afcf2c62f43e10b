import type { ContenderName } from '../trial.ts';
import { bareUws } from './bare-uws.ts';
import type { Contender } from './contender.ts';
import { llamaBatchedBench } from './llama-batched-bench.ts';
import { llamaRouter, llamaServer } from './llama-server.ts';
import { ours } from './ours.ts';

export const contenders: Readonly<Record<ContenderName, Contender>> = {
  svc: ours,
  'bare-uws': bareUws,
  'llama-server': llamaServer,
  'llama-router': llamaRouter,
  'llama-batched-bench': llamaBatchedBench,
};
