/** The client of the loads of providers, in a process of its own: prints one sample as JSON. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '../client/connection.ts';
import { at } from '../client/summary.ts';
import { readUsage } from '../process-usage.ts';
import type { Sample } from '../trial.ts';
import type { CloudJob, CloudRequests, CloudStreams } from './cloud-load.ts';

interface Heard {
  firstMs: number[];
  /** Each is the time that one frame took from the provider to here. */
  frameMs: number[];
  nFailed: number;
}

const job = JSON.parse(process.argv[2] ?? '') as CloudJob;
const sample = job.load.kind === 'cloud-requests' ? await requests(job, job.load) : await streams(job, job.load);
process.stdout.write(JSON.stringify(sample));
process.exit(0);

async function requests({ proxyUrl, providerUrl, proxyPid, seed }: CloudJob, load: CloudRequests): Promise<Sample> {
  const { perSecond, seconds, directEvery } = load;
  // Connections, and code that is compiled once it has run often enough.
  await run(4 * perSecond, perSecond, (i) => ask(i % directEvery === 0 ? providerUrl : proxyUrl, seed + i, newHeard()));
  const [through, direct] = [newHeard(), newHeard()];
  const before = readUsage(proxyPid);
  const isDirect = (i: number): boolean => i % directEvery === 0;
  await run(perSecond * seconds, perSecond, (i) =>
    ask(isDirect(i) ? providerUrl : proxyUrl, seed + i, isDirect(i) ? direct : through),
  );
  const { cpuSeconds, rssBytes } = readUsage(proxyPid);
  return {
    nRequests: through.firstMs.length,
    nFailed: through.nFailed,
    directFirstP50Ms: at(direct.firstMs, 0.5),
    addedFirstP50Ms: at(through.firstMs, 0.5) - at(direct.firstMs, 0.5),
    addedFirstP99Ms: at(through.firstMs, 0.99) - at(direct.firstMs, 0.5),
    addedFrameP50Ms: at(through.frameMs, 0.5) - at(direct.frameMs, 0.5),
    addedFrameP99Ms: at(through.frameMs, 0.99) - at(direct.frameMs, 0.5),
    cpuMicrosPerFrame: ((cpuSeconds - before.cpuSeconds) * 1e6) / through.frameMs.length,
    rssMiB: rssBytes / 2 ** 20,
  };
}

async function streams({ proxyUrl, proxyPid }: CloudJob, load: CloudStreams): Promise<Sample> {
  const { openPerSecond, seconds } = load;
  const heard = newHeard();
  await open(proxyUrl, 20, openPerSecond, newHeard());
  await sleep(1_000);
  const before = readUsage(proxyPid);
  const connections = await open(proxyUrl, load.streams, openPerSecond, heard);
  await sleep(seconds * 1_000);
  const after = readUsage(proxyPid);
  for (const connection of connections) connection.abort();
  return { nStreams: heard.firstMs.length, nFailed: heard.nFailed, rssGrowthMiB: (after.rssBytes - before.rssBytes) / 2 ** 20 };
}

function newHeard(): Heard {
  return { firstMs: [], frameMs: [], nFailed: 0 };
}

/** At a fixed rate, whatever becomes of those before. */
async function run(n: number, perSecond: number, work: (i: number) => Promise<void>): Promise<void> {
  const started = performance.now();
  const all: Promise<void>[] = [];
  for (let i = 0; i < n; i++) {
    const waitMs = started + (i * 1_000) / perSecond - performance.now();
    if (waitMs > 1) await sleep(waitMs);
    all.push(work(i));
  }
  await Promise.all(all);
}

async function open(url: string, n: number, perSecond: number, heard: Heard): Promise<Connection[]> {
  const connections: Connection[] = [];
  await run(n, perSecond, async (i) => {
    connections.push(connect(url, 'bench-slow', i, heard, () => undefined));
  });
  return connections;
}

function ask(url: string, own: number, heard: Heard): Promise<void> {
  return new Promise((resolve) => {
    connect(url, 'bench-short', own, heard, resolve);
  });
}

function connect(url: string, model: string, own: number, heard: Heard, onOver: () => void): Connection {
  const { hostname: host, port } = new URL(url);
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: `Question ${own}` }] });
  const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-bench' };
  const startedAt = performance.now();
  let isFirst = true;
  let status = 0;
  return new Connection(
    { host, port: Number(port) },
    { method: 'POST', path: '/v1/chat/completions', headers, body },
    {
      onHead: (code) => {
        status = code;
      },
      onBody: (bytes) => {
        const now = process.hrtime.bigint();
        for (const [, sentAt = ''] of bytes.toString('latin1').matchAll(/t=(\d+);/g)) {
          heard.frameMs.push(Number(now - BigInt(sentAt)) / 1e6);
          if (isFirst) heard.firstMs.push(performance.now() - startedAt);
          isFirst = false;
        }
      },
      onEnd: (isWhole) => {
        if (!isWhole || status !== 200) heard.nFailed += 1;
        onOver();
      },
    },
  );
}
