import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';
import { defaultPreset } from '../scripts/setup/set-up.mjs';
import { describeCommit } from './commit.ts';

/** What a reader needs to judge figures that were measured elsewhere. */
export interface Machine {
  cpu: string;
  nCores: number;
  memoryBytes: number;
  /** Names of NVIDIA GPUs to hand; empty where there is none, whatever was built. */
  gpus: string[];
  /** What svc and its rivals were built for: `cpu`, `cuda`. */
  preset: string;
  kernel: string;
  node: string;
  /** As commit.ts describes it. */
  commit: string;
}

export function describeMachine(): Machine {
  const cores = cpus();
  return {
    cpu: cores[0]?.model ?? 'unknown',
    nCores: cores.length,
    memoryBytes: totalmem(),
    gpus: readGpus(),
    preset: defaultPreset(),
    kernel: release(),
    node: process.version,
    commit: describeCommit(),
  };
}

function readGpus(): string[] {
  try {
    const names = execFileSync('nvidia-smi', ['--query-gpu=name', '--format=csv,noheader'], { encoding: 'utf8', stdio: 'pipe' });
    return names.split('\n').filter((name) => name !== '');
  } catch {
    return [];
  }
}
