import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';

/** What a reader needs to judge figures that were measured elsewhere. */
export interface Machine {
  cpu: string;
  nCores: number;
  memoryBytes: number;
  kernel: string;
  node: string;
  /** Commit of the checkout, with `-dirty` when files differ from it; `unknown` outside a git checkout. */
  commit: string;
}

export function describeMachine(): Machine {
  const cores = cpus();
  return {
    cpu: cores[0]?.model ?? 'unknown',
    nCores: cores.length,
    memoryBytes: totalmem(),
    kernel: release(),
    node: process.version,
    commit: readCommit(),
  };
}

function readCommit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=12'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
