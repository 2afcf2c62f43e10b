/** Random clients against one server for a while: every answer is documented, memory is flat, nobody else waits, the server is up at the end. */
import { readFileSync } from 'node:fs';
import { SeededRandom } from '../../models/random/seeded-random.ts';
import type { ChildServer } from '../child-server.ts';
import { Neighbour, p99 } from '../hostile/neighbour.ts';
import { openTenants } from '../hostile/tenants.ts';
import { Client } from '../matrix/client.ts';
import { Contract } from './contract.ts';
import { hostileVisits, longVisits } from './hostile-visits.ts';
import { ordinaryVisits, type Site, type Visit, type WeightedVisit } from './visits.ts';

interface SoakOptions {
  seconds: number;
  seed: number;
  /** Clients at once. */
  nClients: number;
  onProgress?(report: SoakReport): void;
}

interface SoakReport {
  nVisits: number;
  /** How often each kind of visit was made and each status was answered. */
  counts: Record<string, number>;
  /** First 20 answers that openapi.json does not document, and visits that failed. */
  faults: string[];
  nFaults: number;
  /** Resident memory when caches are warm, and the median of the last tenth's readings. */
  rssWarmBytes: number;
  rssEndBytes: number;
  /** A reading in each tenth of the time, which shows whether memory settles. */
  rssBytes: number[];
  /** 99 of 100 rounds of another tenant, a chat, a list and a search each, take so long at most: without hostile visits and beside them. */
  quietP99Ms: number;
  hostileP99Ms: number;
}

/** The share of the time that is without hostile visits. */
const QUIET = 0.25;
/** Clients of the other tenant: more of them make a p99 of a short run more than its longest wait. */
const N_NEIGHBOURS = 3;
/** A run of this length at most is a sample, which has no long visits. */
const SHORT_SECONDS = 30;

export async function soak(server: ChildServer, options: SoakOptions): Promise<SoakReport> {
  const client = new Client(Number(new URL(server.url).port));
  try {
    const { viewer, neighbour } = await openTenants(client);
    const neighbours = Array.from({ length: N_NEIGHBOURS }, () => new Neighbour({ client, neighbour }));
    try {
      return await visitServer(server, { url: server.url, headers: viewer }, neighbours, options);
    } finally {
      await Promise.all(neighbours.map((each) => each.stop()));
    }
  } finally {
    client.close();
  }
}

async function visitServer(
  server: ChildServer,
  site: Site,
  neighbours: readonly Neighbour[],
  { seconds, seed, nClients, onProgress = () => {} }: SoakOptions,
): Promise<SoakReport> {
  const contract = new Contract(await (await fetch(`${server.url}/openapi.json`)).json());
  const report: SoakReport = {
    nVisits: 0,
    counts: {},
    faults: [],
    nFaults: 0,
    rssWarmBytes: 0,
    rssEndBytes: 0,
    rssBytes: [],
    quietP99Ms: 0,
    hostileP99Ms: 0,
  };
  const randoms = Array.from({ length: nClients }, (_, index) => new SeededRandom(seed * 1_000 + index));
  // The first round of a neighbour waits for what is loaded once.
  await takeWaits(neighbours);
  const startedAt = performance.now();
  const elapsed = () => (performance.now() - startedAt) / 1000 / seconds;
  const lateReadings: number[] = [];

  const visitUntil = async (end: number, visits: readonly WeightedVisit[], random: SeededRandom) => {
    while (elapsed() < end) {
      if (!server.running) throw new Error(`the server ended:\n${server.log}`);
      await visitOnce(site, chooseVisit(random, visits), random, contract, report);
      const rss = readRss(server.pid);
      if (report.rssWarmBytes === 0 && elapsed() > warmAt(seconds)) report.rssWarmBytes = rss;
      if (elapsed() > 0.9) lateReadings.push(rss);
      if (elapsed() * 10 > report.rssBytes.length + 1) report.rssBytes.push(rss);
      if (report.nVisits % 500 === 0) onProgress(report);
    }
  };
  await Promise.all(randoms.map((random) => visitUntil(QUIET, ordinaryVisits, random)));
  report.quietP99Ms = p99(await takeWaits(neighbours));
  const allVisits = [...ordinaryVisits, ...hostileVisits, ...(seconds > SHORT_SECONDS ? longVisits : [])];
  await Promise.all(randoms.map((random) => visitUntil(1, allVisits, random)));
  report.hostileP99Ms = p99(await takeWaits(neighbours));
  for (const fault of neighbours.flatMap((each) => each.faults)) blame(report, `another tenant: ${fault}`);
  report.rssEndBytes = lateReadings.sort((a, b) => a - b)[Math.floor(lateReadings.length / 2)] ?? 0;
  return report;
}

async function takeWaits(neighbours: readonly Neighbour[]): Promise<number[]> {
  return (await Promise.all(neighbours.map((each) => each.take(1)))).flat();
}

/**
 * The share of the time after which caches and allocators have what they keep: a tenth of the time with hostile visits, but two
 * minutes of a short run.
 */
function warmAt(seconds: number): number {
  return QUIET + (1 - QUIET) * Math.max(0.1, Math.min(0.5, 120 / seconds));
}

async function visitOnce(
  site: Site,
  [name, visit]: [name: string, visit: Visit],
  random: SeededRandom,
  contract: Contract,
  report: SoakReport,
): Promise<void> {
  report.nVisits++;
  count(report, name);
  try {
    for (const answer of await visit(site, random)) {
      count(report, String(answer.status));
      const fault = contract.findFault(answer);
      if (fault !== undefined) blame(report, `${answer.method} ${answer.path}: ${fault}`);
    }
  } catch (error) {
    blame(report, `${name}: ${causesOf(error).join(': ')}`);
  }
}

/** fetch() says that it failed, and only the cause of its cause says why. */
function causesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return error === undefined ? [] : [String(error)];
  const { code } = error as { code?: unknown };
  return [code === undefined ? error.message : `${error.message} (${String(code)})`, ...causesOf(error.cause)];
}

function chooseVisit(random: SeededRandom, visits: readonly WeightedVisit[]): [name: string, visit: Visit] {
  let at = random.integer(visits.reduce((sum, [, weight]) => sum + weight, 0));
  for (const [name, weight, visit] of visits) {
    at -= weight;
    if (at < 0) return [name, visit];
  }
  throw new Error('the weights do not add up');
}

function count(report: SoakReport, name: string): void {
  report.counts[name] = (report.counts[name] ?? 0) + 1;
}

function blame(report: SoakReport, fault: string): void {
  report.nFaults++;
  if (report.faults.length < 20 && !report.faults.includes(fault)) report.faults.push(fault);
}

/** Bytes; 0 where there is no /proc. */
function readRss(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
