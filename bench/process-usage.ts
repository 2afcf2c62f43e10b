/** CPU time and memory of a process, from Linux' /proc; other systems report zero. */
import { existsSync, readFileSync } from 'node:fs';

/** Kernel clock ticks a second: USER_HZ is 100 on every Linux architecture in use (proc(5)). */
const ticksPerSecond = 100;

export interface ProcessUsage {
  cpuSeconds: number;
  rssBytes: number;
}

export function readUsage(pid: number): ProcessUsage {
  if (!existsSync(`/proc/${pid}/stat`)) return { cpuSeconds: 0, rssBytes: 0 };
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The command name may hold spaces and brackets: fields are counted from its closing bracket. utime and stime are 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const rssKb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return { cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond, rssBytes: Number(rssKb) * 1024 };
}
