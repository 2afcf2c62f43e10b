/** Limits of the model registry when the configuration names none. */

import type { SystemInfo } from '../../../native/llama-shapes.ts';
import { hostMemory } from '../../../platform/host-memory.ts';
import type { RegistryLimits } from './model-registry.ts';

/** The rest is left to the server, the file cache and other programs. */
const hostShare = 0.8;
const deviceShare = 0.9;
/** Plans of models are kept for this many bytes of device memory, and what is free differs a little at each start. */
const deviceGrain = 256 * 2 ** 20;

/** The queue is as long as the engine's own (native/llama/queue/admission_control.h). */
export function defaultRegistryLimits(): RegistryLimits {
  return {
    maxModels: Number.POSITIVE_INFINITY,
    memory: { hostBytes: Math.floor(hostMemory() * hostShare), deviceBytes: Number.POSITIVE_INFINITY },
    loadWaitMs: 120_000,
    drainAfterMs: 2_000,
    idleUnloadMs: 0,
    loadQueue: { maxRequests: 16_384, maxTokens: 4 * 1024 * 1024 },
  };
}

/** Reads the free memory of devices before a model of this process is loaded: what other programs have is theirs. */
export function defaultDeviceBytes({ devices }: Pick<SystemInfo, 'devices'>): number {
  const gpus = devices.filter(({ kind }) => kind === 'gpu');
  const bytes = gpus.reduce((sum, { memoryBytes, freeBytes }) => sum + Math.min(memoryBytes * deviceShare, freeBytes), 0);
  return Math.floor(bytes / deviceGrain) * deviceGrain;
}
