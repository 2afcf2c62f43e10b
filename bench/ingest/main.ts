/** The client of one round: a job as JSON in its first argument, one sample as JSON on its standard output. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readUsage } from '../process-usage.ts';
import type { Sample } from '../trial.ts';
import type { Adding } from './adding.ts';
import { ByHandAdding } from './by-hand-adding.ts';
import type { IngestJob } from './ingest-load.ts';
import { type MadeFiles, makeFiles } from './made-files.ts';
import { figuresOf, newLatencies, Probes } from './probes.ts';
import { SvcAdding } from './svc-adding.ts';

const MB = 1e6;
const LOOK_MS = 200;

const job = JSON.parse(process.argv[2] ?? '') as IngestJob;
const folder = await mkdtemp(join(tmpdir(), 'svc-bench-ingest-'));
try {
  const files = await makeFiles(join(folder, 'files'), job.load, job.seed);
  const adding = job.side === 'svc' ? new SvcAdding(job.url, files) : new ByHandAdding(job.url, files);
  console.log(JSON.stringify(await measure(job, files, adding)));
} finally {
  await rm(folder, { recursive: true, force: true });
}
// Connections that are kept alive must not keep the process.
process.exit(0);

async function measure({ url, serverPid, load }: IngestJob, files: MadeFiles, adding: Adding): Promise<Sample> {
  const probes = new Probes(url, files.questions, (question) => adding.search(question));
  const [busy, idle] = [newLatencies(), newLatencies()];
  const usedBefore = readUsage(serverPid).cpuSeconds + adding.cpuSeconds();
  const half = Math.floor(load.nFiles / 2);
  const first = await withProbes(probes, busy, () => addUntil(adding, half));
  const nBefore = await adding.count();
  const usedInPause = readUsage(serverPid).cpuSeconds;
  await withProbes(probes, idle, () => wait(load.idleSeconds * 1_000));
  const pauseCpuSeconds = readUsage(serverPid).cpuSeconds - usedInPause;
  let nKept = 0;
  const second = await withProbes(probes, busy, async () => {
    nKept = await adding.run(new AbortController().signal);
  });
  const nAdded = await adding.count();
  if (nAdded !== load.nFiles) throw new Error(`${nAdded} of ${load.nFiles} files can be found`);
  const seconds = first + second;
  const cpuSeconds = readUsage(serverPid).cpuSeconds + adding.cpuSeconds() - usedBefore - pauseCpuSeconds;
  const mb = files.sizeBytes / MB;
  return {
    filesPerSecond: load.nFiles / seconds,
    mbPerSecond: mb / seconds,
    mb,
    seconds,
    filesPerCpuSecond: load.nFiles / cpuSeconds,
    mbPerCpuSecond: mb / cpuSeconds,
    keptShare: nBefore === 0 ? 0 : Math.min(1, nKept / nBefore),
    serverRssMiB: readUsage(serverPid).rssBytes / 2 ** 20,
    ...figuresOf(busy, (figure) => `${figure[0]?.toLowerCase()}${figure.slice(1)}`),
    ...figuresOf(idle, (figure) => `idle${figure}`),
  };
}

/** Seconds that the work took. */
async function withProbes(probes: Probes, into: ReturnType<typeof newLatencies>, work: () => Promise<void>): Promise<number> {
  const end = new AbortController();
  const running = probes.run(into, end.signal);
  const beganAt = performance.now();
  try {
    await Promise.race([work(), running.then(() => Promise.reject(new Error('the probes ended')))]);
    return (performance.now() - beganAt) / 1_000;
  } finally {
    end.abort();
    await running;
  }
}

async function addUntil(adding: Adding, nFiles: number): Promise<void> {
  const stop = new AbortController();
  const run = adding.run(stop.signal);
  const isOver = run.then(() => true);
  for (;;) {
    if (await Promise.race([isOver, wait(LOOK_MS).then(() => false)])) break;
    if ((await adding.count()) >= nFiles) stop.abort();
  }
  await run;
}
