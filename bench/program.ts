import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { interruption } from './interruption.ts';

/** Runs a program to its end and gives what it printed. Throws when it fails, and Interrupted when the bench is ended. */
export async function runProgram(program: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, { encoding: 'utf8', maxBuffer: 2 ** 26, signal: interruption });
    return stdout;
  } catch (error) {
    interruption.throwIfAborted();
    throw error;
  }
}
