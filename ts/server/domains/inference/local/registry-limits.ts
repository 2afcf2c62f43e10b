/** Limits of the model registry when the configuration names none. */

import type { SystemInfo } from '../../../native/llama-shapes.ts';
import { hostMemory } from '../../../platform/host-memory.ts';
import type { RegistryLimits } from './model-registry.ts';

/** The rest is left to the server, the file cache and other programs. */
const hostShare = 0.8;
const deviceShare = 0.9;

/** The queue is as long as the engine's own (native/llama/queue_bound.h). */
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

export function defaultDeviceBytes({ devices }: SystemInfo): number {
  const gpus = devices.filter(({ kind }) => kind === 'gpu');
  return Math.floor(gpus.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0) * deviceShare);
}
