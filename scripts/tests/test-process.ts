/** A process that runs test files, and what it cost with all that it started. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

interface ProcessRun {
  /** What it printed. */
  output: string;
  /** Null where it was killed. */
  exitCode: number | null;
  wallSeconds: number;
  cpuSeconds: number;
}

interface ProcessOptions {
  env: NodeJS.ProcessEnv;
  timeoutSeconds: number;
}

/**
 * The shell tells what its children used, and theirs, once they have ended. It outlives the signals that end them, so that it tells it then
 * as well.
 */
const timed = 'trap : ALRM; "$@" 3>&-; code=$?; times >&3; exit $code';
/** Tap tells what took too long when the signal comes; a process that is stuck does not. */
const secondsToTell = 10;
const running = new Set<number>();

/** Nothing that it started outlives it. */
export async function runTestProcess(args: readonly string[], { env, timeoutSeconds }: ProcessOptions): Promise<ProcessRun> {
  const began = performance.now();
  const child = spawn('sh', ['-c', timed, 'sh', process.execPath, ...args], {
    env: { ...env, TAP_TIMEOUT: String(timeoutSeconds) },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    detached: true,
  });
  const group = child.pid ?? 0;
  running.add(group);
  const timers = [
    setTimeout(() => signalGroup(group, 'SIGALRM'), timeoutSeconds * 1000),
    setTimeout(() => signalGroup(group, 'SIGKILL'), (timeoutSeconds + secondsToTell) * 1000),
  ];
  const printed = Promise.all([1, 3].map((file) => text(child.stdio[file as 1 | 3] as Readable)));
  const [exitCode] = (await once(child, 'exit')) as [number | null];
  for (const timer of timers) clearTimeout(timer);
  signalGroup(group, 'SIGKILL');
  running.delete(group);
  const [output = '', used = ''] = await printed;
  return { output, exitCode, wallSeconds: (performance.now() - began) / 1000, cpuSeconds: readTimes(used) };
}

/** The second line of `times` is what the children used, as minutes and seconds: user, then system. */
export function readTimes(times: string): number {
  const [, ofChildren = ''] = times.split('\n');
  return [...ofChildren.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds),
    0,
  );
}

/** Groups of their own do not hear of a Ctrl-C; what ends us ends them. */
export function endWithUs(): void {
  process.on('exit', () => {
    for (const group of running) signalGroup(group, 'SIGKILL');
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => process.exit(128 + constants.signals[signal]));
}

function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
