/** Runs the program as a person would, for black-box tests: a process of its own, its output, its exit code. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export interface CliRun {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output as JSON. Throws when it is none. */
  json(): unknown;
}

export interface CliOptions {
  env?: NodeJS.ProcessEnv;
  input?: string;
  cwd?: string;
}

/** The file that Node runs: the bundle where `npm test` made one, else the sources. */
export const program = process.env['SVC_TEST_PROGRAM'] ?? join(import.meta.dirname, 'svc.ts');

export async function runCli(args: readonly string[], { env = {}, input = '', cwd }: CliOptions = {}): Promise<CliRun> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...cleanEnvironment(), ...env },
    stdio: 'pipe',
    ...(cwd !== undefined && { cwd }),
  });
  child.stdin.on('error', () => {}).end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr, json: () => JSON.parse(stdout) as unknown };
}

/** What the person running the tests has configured is not part of them. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const ours = /^(SVC_|HF_)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}
