/** Ways to find a word in collected lines, each in a process of its own, over the same lines. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whyNoClickHouse } from '../../test/clickhouse-process.ts';
import type { LogJob, LogLibrary, LogLoad } from '../logs/log-load.ts';
import { runProgram } from '../program.ts';
import type { Sample } from '../trial.ts';
import type { Contender } from './contender.ts';

const program = join(import.meta.dirname, '../logs/main.ts');
const folders = new Map<string, string>();

export const svcLogs: Contender = {
  name: 'svc-logs',
  start: async () => ({
    measure: async (load, seed) => (load.kind === 'logs' ? await run('svc', load, seed) : undefined),
    stop: async () => undefined,
  }),
};

/** A goal compares a figure with that of the rival that the issue of logs names for it; every rival's own figures stand beside. */
export const logRivals: Contender = {
  name: 'log-rivals',
  async start() {
    if (spawnSync('zstdcat', ['--version']).status !== 0) throw new Error('zstdcat is missing: apt install zstd');
    return {
      measure: async (load, seed) => (load.kind === 'logs' ? await rivals(load, seed) : undefined),
      stop: async () => undefined,
    };
  },
};

async function rivals(load: LogLoad, seed: number): Promise<Sample> {
  const sample: Sample = {};
  const libraries: LogLibrary[] = ['zstdgrep', 'fts5', ...(whyNoClickHouse === false ? (['chdb'] as const) : [])];
  for (const library of libraries) {
    const figures = await run(library, load, seed);
    for (const [figure, value] of Object.entries(figures)) sample[`${library}.${figure}`] = value;
    if (library === 'zstdgrep') sample['rareP99Ms'] = figures['rareP50Ms'] ?? Number.NaN;
    if (library === 'chdb') sample['commonP50Ms'] = figures['commonP50Ms'] ?? Number.NaN;
  }
  return sample;
}

async function run(library: LogLibrary, load: LogLoad, seed: number): Promise<Sample> {
  const key = JSON.stringify([load, seed]);
  const folder = folders.get(key) ?? newFolder();
  folders.set(key, folder);
  const job: LogJob = { library, folder, load, seed };
  return JSON.parse(await runProgram(process.execPath, [program, JSON.stringify(job)])) as Sample;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-logs-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
