/** Faults on demand (faults.cpp): allocations, threads or evaluations of our own code that fail. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Test } from 'tap';
import { referenceProgram } from './reference.ts';

export interface Faults {
  /** The requests from `first` on, counted from 1, fail: `count` of them. With a count of 0, none. */
  arm(kind: 'allocation' | 'thread' | 'evaluation', first: number, count: number): void;
  /** Weights that are not mapped are read at so many bytes a second, each file. */
  arm(kind: 'read', bytesPerSecond: number, count: 0): void;
  /** Each copy out of a tensor takes so long. */
  arm(kind: 'copy', microseconds: number, count: 0): void;
  /** Requests since arm(), or mebibytes that were read. */
  seen(): number;
}

const marker = 'SVC_TEST_FAULTS';

/** Why there are no faults here, or false. */
export function noFaults(): string | false {
  if (process.platform !== 'linux') return 'needs LD_PRELOAD';
  return false;
}

/** The faults of this process; undefined where they are not loaded, and the test file has to be run under them. */
export function loadedFaults(): Faults | undefined {
  const path = process.env[marker];
  return path ? (createRequire(import.meta.url)(path) as Faults) : undefined;
}

/** Runs the test file again in a process with faults, which must end well. A crash is told as such. */
export async function runUnderFaults(t: Test, file: string, more: NodeJS.ProcessEnv = {}): Promise<void> {
  const library = await referenceProgram('faults.node');
  const preload = [library, process.env['LD_PRELOAD']].filter(Boolean).join(':');
  const env = {
    ...process.env,
    ...more,
    [marker]: library,
    LD_PRELOAD: preload,
    // Its own library must come first otherwise.
    ASAN_OPTIONS: `${process.env['ASAN_OPTIONS'] ?? ''}:verify_asan_link_order=0`,
  };
  const child = spawn(process.execPath, [...process.execArgv, file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  // Also where this file's own time is over: it would compute beside the files that follow.
  const end = (): boolean => child.kill('SIGKILL');
  process.once('exit', end);
  process.once('SIGTERM', end);
  t.teardown(end);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  const [status, signal] = await once(child, 'close');
  const failures = said.split('\n').filter((line) => line.includes('not ok'));
  t.strictSame({ status, signal, failures }, { status: 0, signal: null, failures: [] }, said.slice(-3_000));
}
