/** Sets that were made in this run, each by a process of its own and once. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../program.ts';
import type { SetJob, VectorLoad } from './vector-load.ts';

const program = join(import.meta.dirname, 'make-set.ts');
const made = new Map<string, Promise<string>>();

/** The folder of a load's set, which is removed when this process ends. */
export async function madeSet(load: VectorLoad, seed: number): Promise<string> {
  const key = JSON.stringify([load, seed]);
  const folder = made.get(key) ?? make(load, seed);
  made.set(key, folder);
  return await folder;
}

async function make(load: VectorLoad, seed: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-vectors-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const job: SetJob = { folder, load, seed };
  await runProgram(process.execPath, [program, JSON.stringify(job)]);
  return folder;
}
