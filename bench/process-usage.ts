/** CPU time and memory of a process and of those it started, from Linux' /proc; other systems report zero. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Kernel clock ticks a second: USER_HZ is 100 on every Linux architecture in use (proc(5)). */
const ticksPerSecond = 100;

interface ProcessUsage {
  cpuSeconds: number;
  rssBytes: number;
}

/** A server that runs its models in child processes uses what they use. */
export function readUsage(pid: number): ProcessUsage {
  const processes = [pid, ...listChildren(pid)].map(readProcess);
  return {
    cpuSeconds: processes.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    rssBytes: processes.reduce((sum, { rssBytes }) => sum + rssBytes, 0),
  };
}

/** Without those that it started. */
export function readProcess(pid: number): ProcessUsage {
  const stat = read(`/proc/${pid}/stat`);
  // The command name may hold spaces and brackets: fields are counted from its closing bracket. utime and stime are 14 and 15,
  // cutime and cstime (children that have ended) 16 and 17.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index] ?? 0), 0);
  const rssKb = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? '0';
  return { cpuSeconds: ticks / ticksPerSecond, rssBytes: Number(rssKb) * 1024 };
}

function listChildren(pid: number): number[] {
  if (!existsSync(`/proc/${pid}/task`)) return [];
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

/** CPU seconds of each thread, to the nanosecond where the kernel keeps scheduling statistics. */
export function readThreads(pid: number): Map<string, number> {
  if (!existsSync(`/proc/${pid}/task`)) return new Map();
  const threads = readdirSync(`/proc/${pid}/task`);
  return new Map(threads.map((thread) => [thread, Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]) / 1e9]));
}

/** Processes and threads may end at any moment. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
