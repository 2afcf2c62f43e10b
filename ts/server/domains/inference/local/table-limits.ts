/** Limits of the model table when the configuration names none. */
import { totalmem } from 'node:os';
import type { SystemInfo } from '../../../native/llama.ts';
import type { TableLimits } from './model-table.ts';

/** The rest is left to the server, the file cache and other programs. */
const hostShare = 0.8;
const deviceShare = 0.9;

export function defaultTableLimits(): TableLimits {
  return {
    maxModels: Number.POSITIVE_INFINITY,
    memory: { hostBytes: Math.floor(hostMemory() * hostShare), deviceBytes: Number.POSITIVE_INFINITY },
    loadWaitMs: 120_000,
    drainAfterMs: 2_000,
    idleUnloadMs: 0,
  };
}

export function defaultDeviceBytes({ devices }: SystemInfo): number {
  const gpus = devices.filter(({ kind }) => kind === 'gpu');
  return Math.floor(gpus.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0) * deviceShare);
}

/** A container may have less than the machine; Node gives 0 or a huge number where nothing is limited. */
function hostMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
