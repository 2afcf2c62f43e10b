import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Condition } from './conditions.ts';
import { makeCpuQuota } from './cpu-quota.ts';

interface Emulation {
  /** For the bench that runs in it. */
  env: Record<string, string>;
  /** Compute threads that a user of such a machine would have; the bench's own choice unless told. */
  nThreads?: number;
  end(): Promise<void>;
}

/** Makes this machine look like another one until end(). */
export function emulate({ variant, quota, isOneCore, neighbours = 0 }: Condition): Emulation {
  const cgroup = quota === undefined ? undefined : makeCpuQuota(quota);
  const launch = [...(cgroup?.launch ?? []), ...(isOneCore ? ['taskset', '-c', '0'] : [])];
  const burners = Array.from({ length: neighbours }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  return {
    env: {
      ...(variant === undefined ? {} : { SVC_CPU_VARIANT: variant }),
      ...(launch.length > 0 ? { SVC_BENCH_LAUNCH: JSON.stringify(launch) } : {}),
    },
    ...(isOneCore ? { nThreads: 1 } : {}),
    end: async () => {
      await Promise.all(burners.map(endBurner));
      cgroup?.remove();
    },
  };
}

async function endBurner(burner: ChildProcess): Promise<void> {
  const exited = once(burner, 'exit');
  burner.kill('SIGKILL');
  await exited;
}
