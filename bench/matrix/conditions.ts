/** Machines that this one can be made to look like: other CPUs of its kind, shares of it, company. */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { matrixVariants, readCpuFeatures, runnableVariants } from '../../scripts/setup/cpu-variants.mjs';
import { describeEngine } from '../../scripts/setup/engine.mjs';
import { defaultPreset } from '../../scripts/setup/set-up.mjs';
import { whyNoQuota } from './cpu-quota.ts';

export interface Condition {
  name: string;
  /** CPU variant of both sides; the best for this CPU unless told. */
  variant?: string;
  /** Share of all cores' time that a server may use. */
  quota?: number;
  isOneCore?: true;
  /** Programs that burn a core beside the server. */
  neighbours?: number;
}

export const conditions: readonly Condition[] = [
  { name: 'as-it-is' },
  ...matrixVariants.map((variant) => ({ name: variant, variant })),
  { name: 'quota-50', quota: 0.5 },
  { name: 'quota-25', quota: 0.25 },
  { name: 'one-core', isOneCore: true },
  { name: 'busy-neighbour', neighbours: 1 },
];

/** Why a condition cannot be emulated here, or undefined. */
export function whyNot({ variant, quota, isOneCore }: Condition): string | undefined {
  if (variant !== undefined && !runnableVariants(process.arch, readCpuFeatures()).includes(variant))
    return 'this CPU cannot run it';
  if (variant !== undefined && !isBuilt(variant)) return 'SVC_CPU_VARIANTS leaves it out';
  if (quota !== undefined) return whyNoQuota();
  if (isOneCore && spawnSync('taskset', ['--version']).status !== 0) return 'taskset (Debian: util-linux) is not installed';
  if (isOneCore && availableParallelism() === 1) return 'there is only one core';
  return undefined;
}

function isBuilt(variant: string): boolean {
  const built = describeEngine(defaultPreset()).variables.SVC_CPU_VARIANTS.split(';');
  return built.includes('all') || built.includes(variant);
}
