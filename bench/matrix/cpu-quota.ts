/** A cgroup whose processes together get a share of the cores' time, where this machine lets us make one (root, or a delegated tree). */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const periodMicros = 100_000;
/** Controllers of version 1 have a tree each. */
const trees = [
  { root: '/sys/fs/cgroup/cpu', isV1: true },
  { root: '/sys/fs/cgroup', isV1: false },
] as const;

interface CpuQuota {
  /** Words before a program that starts it in the cgroup. */
  launch: readonly string[];
  remove(): void;
}

/** Throws when no cgroup can be made. `share`: of all cores. */
export function makeCpuQuota(share: number): CpuQuota {
  const tree = trees.find(({ root, isV1 }) => existsSync(join(root, isV1 ? 'cpu.cfs_quota_us' : 'cgroup.subtree_control')));
  if (!tree) throw new Error('there are no cgroups with a CPU controller');
  const folder = join(tree.root, `svc-bench-${process.pid}`);
  mkdirSync(folder);
  const quotaMicros = Math.round(share * availableParallelism() * periodMicros);
  const remove = () => rmdirSync(folder);
  try {
    if (tree.isV1) {
      writeFileSync(join(folder, 'cpu.cfs_period_us'), String(periodMicros));
      writeFileSync(join(folder, 'cpu.cfs_quota_us'), String(quotaMicros));
    } else {
      writeFileSync(join(folder, 'cpu.max'), `${quotaMicros} ${periodMicros}`);
    }
  } catch (error) {
    remove();
    throw error;
  }
  const enter = 'echo $$ > "$0" && exec "$@"';
  return { launch: ['sh', '-c', enter, join(folder, 'cgroup.procs')], remove };
}

/** Why there can be none here, or undefined. */
export function whyNoQuota(): string | undefined {
  try {
    makeCpuQuota(0.5).remove();
    return undefined;
  } catch (error) {
    return `no cgroup can be made (${error instanceof Error ? error.message : String(error)})`;
  }
}
