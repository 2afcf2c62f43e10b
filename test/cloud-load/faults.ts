/** Every fault of a provider at random under load, for a while: memory stays flat, and connections and holds are gone afterwards. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { SeededRandom } from '../../models/random/seeded-random.ts';
import type { ChildServer } from '../child-server.ts';
import { post, send, sendJson } from '../http.ts';
import { openAiDialect } from '../providers/openai.ts';
import { BILLED, type Fault, ProviderServer } from '../providers/provider-server.ts';
import { watchChat } from './stream-client.ts';

export interface FaultsOptions {
  readonly seconds: number;
  readonly perSecond: number;
  readonly seed: number;
}

export interface FaultsReport {
  nAsked: number;
  /** How the answers ended. */
  ends: Record<string, number>;
  nFalseEnds: number;
  /** Resident memory in each tenth of the time. */
  rssBytes: number[];
  /** These are left when all is over: connections at the providers, requests that backends answer or that wait, tokens that quotas hold. */
  nSockets: number;
  nRunning: number;
  nWaiting: number;
  nHeldTokens: number;
}

/** Most requests are answered. A frame of 100 MB and a byte a second cost the machine more than the others. */
const FAULTS: readonly [Fault, weight: number][] = [
  ['none', 60],
  ['silent', 2],
  ['refuse', 4],
  ['hang', 2],
  ['cut', 6],
  ['stall', 2],
  ['no-end', 4],
  ['page', 2],
  ['broken-json', 2],
  ['error-frame', 4],
  ['late-error', 4],
  ['huge-frame', 0.05],
  ['drip', 1],
  ['empty', 2],
  ['no-usage', 4],
  [{ status: 408 }, 1],
  [{ status: 429, headers: { 'retry-after': '1' } }, 1],
  [{ status: 429 }, 1],
  [{ status: 500 }, 2],
  [{ status: 529 }, 2],
  [{ status: 400 }, 1],
  [{ status: 404 }, 1],
];
const WORDS = ['Red', ', green', ', blue', ' and', ' no', ' more.'];
const N_BACKENDS = 3;

export async function faults(server: ChildServer, options: FaultsOptions): Promise<FaultsReport> {
  const random = new SeededRandom(options.seed);
  const providers = Array.from({ length: N_BACKENDS }, () => new ProviderServer(openAiDialect));
  for (const provider of providers) {
    await provider.start();
    provider.models = ['shared'];
    provider.keepsRecords = false;
    provider.defaultFault = () => drawn(random);
    provider.say = () => ({ texts: WORDS, tokens: BILLED });
  }
  try {
    await register(server.url, providers);
    return await run(server, providers, random, options);
  } finally {
    for (const provider of providers) provider.stop();
  }
}

function drawn(random: SeededRandom): Fault {
  let left = random.next() * FAULTS.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [fault, weight] of FAULTS) {
    left -= weight;
    if (left < 0) return fault;
  }
  return 'none';
}

async function register(url: string, providers: readonly ProviderServer[]): Promise<void> {
  for (const [i, { origin }] of providers.entries()) {
    const body = {
      id: `faulty-${i}`,
      kind: 'openai',
      base_url: `${origin}/v1`,
      model_filter: { include: ['shared'] },
      timeouts: { connect_ms: 2000, first_byte_ms: 3000, idle_ms: 3000 },
      prices: { shared: { input: '1', output: '2', currency: 'EUR' } },
    };
    const made = await post(`${url}/api/v1/cloud/backends`, body);
    if (made.status !== 201) throw new Error(made.text);
  }
  const quota = { tenant: 'default', tokens_per_month: 2 ** 45, cost_micro_per_month: 2 ** 45 };
  const set = await send(`${url}/api/v1/metering/quotas`, { method: 'PUT', body: quota });
  if (set.status >= 300) throw new Error(set.text);
}

async function run(
  server: ChildServer,
  providers: readonly ProviderServer[],
  random: SeededRandom,
  { seconds, perSecond }: FaultsOptions,
): Promise<FaultsReport> {
  const report = { nAsked: 0, ends: {} as Record<string, number>, nFalseEnds: 0, rssBytes: [] as number[] };
  const running = new Set<Promise<void>>();
  const started = performance.now();
  const n = seconds * perSecond;
  let readings: number[] = [];
  for (let i = 0; i < n; i++) {
    const waitMs = started + (i * 1000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    if (i % perSecond === 0) readings.push(rssOf(server));
    if (i % Math.ceil(n / 10) === 0 && i > 0) readings = closeTenth(report.rssBytes, readings);
    const one = ask(server.url, report, random).finally(() => running.delete(one));
    running.add(one);
  }
  closeTenth(report.rssBytes, readings);
  await Promise.all(running);
  return { ...report, ...(await restOf(server.url, providers)) };
}

/** The median of what was read in it. */
function closeTenth(tenths: number[], readings: readonly number[]): number[] {
  tenths.push(readings.toSorted((a, b) => a - b)[Math.floor(readings.length / 2)] ?? 0);
  return [];
}

async function ask(
  url: string,
  report: { nAsked: number; ends: Record<string, number>; nFalseEnds: number },
  random: SeededRandom,
): Promise<void> {
  const content = `Question ${report.nAsked++} with ${'some words and '.repeat(random.integer(60))}an end`;
  const stream = random.chance(0.8);
  const body = { model: 'shared', messages: [{ role: 'user', content }], stream };
  const { end, text, status, code } = await watchChat(url, body);
  const isWhole = text.includes('Red') && text.includes('no') && text.includes(' more.');
  const how = stream ? end : status === 200 ? 'whole' : 'refused';
  const ended = how === 'refused' ? `refused ${code}` : how;
  report.ends[ended] = (report.ends[ended] ?? 0) + 1;
  if ((ended === 'clean' || ended === 'whole') && !isWhole) report.nFalseEnds += 1;
}

/** Backends that are gone keep no connection. */
async function restOf(url: string, providers: readonly ProviderServer[]) {
  const metrics = (await send(`${url}/metrics`)).text;
  const sum = (name: string): number =>
    [...metrics.matchAll(new RegExp(`^${name}\\{[^}]*\\} (\\d+)`, 'gm'))].reduce((total, [, n]) => total + Number(n), 0);
  const nRunning = sum('svc_cloud_running_requests');
  const nWaiting = sum('svc_cloud_waiting_requests');
  const quotas = await sendJson<{ data: { used: { held_tokens: number } }[] }>(url, '/api/v1/metering/quotas');
  for (const i of providers.keys()) await send(`${url}/api/v1/cloud/backends/faulty-${i}`, { method: 'DELETE' });
  await sleep(500);
  return {
    nRunning,
    nWaiting,
    nSockets: providers.reduce((total, { nSockets }) => total + nSockets, 0),
    nHeldTokens: quotas.data.reduce((total, { used }) => total + used.held_tokens, 0),
  };
}

function rssOf({ pid }: ChildServer): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
}
