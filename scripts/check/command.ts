import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Outcome } from './check.ts';

/** Runs a program to its end; it passes with exit code 0. What it printed is shown only when it fails. */
export async function runCommand(program: string, args: readonly string[]): Promise<Outcome> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return code === 0 ? { status: 'passed' } : { status: 'failed', output: `${stdout}${stderr}`.trim() };
}

export function runNode(...args: string[]): Promise<Outcome> {
  return runCommand(process.execPath, args);
}
