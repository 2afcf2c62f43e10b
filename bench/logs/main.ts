/** One library's process: a job as JSON in its first argument, one sample as JSON on its standard output. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SeededRandom } from '../../models/random/seeded-random.ts';
import type { Sample } from '../trial.ts';
import { collect } from './collecting.ts';
import type { LogJob } from './log-load.ts';
import { chdb, fts5, type LogSearching, ours, zstdgrep } from './log-searchers.ts';
import { COMMON_WORD, EVERYTHING, makeLines, tenMinutes } from './made-lines.ts';

/** A search of all files takes seconds: so many of it tell enough. */
const SLOW_SEARCHES = 5;

const job = JSON.parse(process.argv[2] ?? '') as LogJob;
console.log(JSON.stringify(await measure(job)));
// Connections that are kept alive must not keep the process.
process.exit(0);

async function measure({ library, folder, load, seed }: LogJob): Promise<Sample> {
  const made = await makeLines(folder, load, seed);
  const searching = await { svc: ours, zstdgrep, fts5, chdb }[library](folder);
  try {
    const used = process.cpuUsage();
    const beganAt = performance.now();
    const indexBytes = await searching.index();
    const indexSeconds = (performance.now() - beganAt) / 1_000;
    const { user, system } = process.cpuUsage(used);
    const nSearches = library === 'zstdgrep' ? Math.min(SLOW_SEARCHES, load.searches) : load.searches;
    const random = new SeededRandom(seed + 1);
    const rare = await timesOf(nSearches, (i) => searching.find(made.rareWords[i] ?? '', EVERYTHING), 1);
    const common = await timesOf(nSearches, () => searching.find(COMMON_WORD, tenMinutes(random)), 1);
    return {
      linesPerSecond: load.nLines / indexSeconds,
      linesPerCpuSecond: (load.nLines * 1e6) / (user + system),
      indexShare: indexBytes / made.rawBytes,
      filesShare: (made.packedBytes + indexBytes) / made.rawBytes,
      rareP50Ms: quantile(rare, 0.5),
      rareP99Ms: quantile(rare, 0.99),
      commonP50Ms: quantile(common, 0.5),
      commonP99Ms: quantile(common, 0.99),
      ...(library === 'svc' && load.nCollected > 0 && (await collectingOf(load.nCollected))),
    };
  } finally {
    await searching.close();
  }
}

/** Milliseconds, in order. */
async function timesOf(n: number, find: (i: number) => ReturnType<LogSearching['find']>, least: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < n; i++) {
    const beganAt = performance.now();
    const nFound = await find(i);
    times.push(performance.now() - beganAt);
    if (nFound < least) throw new Error(`search ${i} found ${nFound} lines`);
  }
  return times.sort((a, b) => a - b);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

async function collectingOf(nLines: number): Promise<Sample> {
  const seconds: number[] = [];
  for (const isIndexed of [false, true]) {
    const folder = await mkdtemp(join(tmpdir(), 'svc-bench-collect-'));
    seconds.push(await collect(folder, nLines, isIndexed));
    await rm(folder, { recursive: true, force: true });
  }
  const [alone = Number.NaN, indexed = Number.NaN] = seconds;
  return { collectedPerSecond: nLines / alone, indexedPerSecond: nLines / indexed, collectedShare: alone / indexed };
}
