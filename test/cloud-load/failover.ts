/**
 * Two backends of one name under load, of which one dies, hangs, answers 429 and becomes slow in turn: nobody's answer fails that had not begun,
 * no cut answer ends as if it were whole, and the first words come about as fast as from the backend that works.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { post, send } from '../http.ts';
import { openAiDialect } from '../providers/openai.ts';
import { BILLED, ProviderServer } from '../providers/provider-server.ts';
import { watchChat } from './stream-client.ts';

export interface FailoverOptions {
  readonly url: string;
  readonly seconds: number;
  readonly perSecond: number;
  /** How long each fault lasts. */
  readonly faultMs: number;
}

export interface FailoverReport {
  nAsked: number;
  /** Failed although nothing had been said. */
  nFailedEarly: number;
  /** Cut, and yet with an end as of a whole answer. */
  nFalseEnds: number;
  /** Cut behind the first content, and said so. */
  nCut: number;
  /** Whole ones. */
  nWhole: number;
  /** These are times to the first content: while both backends work, and while one of them fails. */
  healthyP99Ms: number;
  disturbedP99Ms: number;
  disturbedP50Ms: number;
  /** First of the answers that failed before they had begun. */
  failures: string[];
}

const WORDS = ['Red', ', green', ', blue', ', and', ' that', ' is', ' all', '.'];
const PACE = { firstMs: 250, frameMs: 20 };
const SLOWER = 50;
/** A second backend is asked when the first has said nothing for so long. */
const HEDGE_MS = 200;
const SLOW = { firstMs: PACE.firstMs * SLOWER, frameMs: PACE.frameMs * SLOWER };

/** Each of them happens to the backend, one after the other, and returns what ends it. */
const FAULTS: readonly ((provider: ProviderServer) => (() => Promise<void>) | undefined)[] = [
  (provider) => {
    provider.stop();
    return () => provider.start();
  },
  (provider) => {
    provider.defaultFault = 'silent';
    return undefined;
  },
  (provider) => {
    provider.defaultFault = { status: 429, headers: { 'retry-after': '1' } };
    return undefined;
  },
  (provider) => {
    provider.pace = SLOW;
    return undefined;
  },
];

export async function failover(options: FailoverOptions): Promise<FailoverReport> {
  const providers = [new ProviderServer(openAiDialect), new ProviderServer(openAiDialect)] as const;
  for (const provider of providers) {
    await provider.start();
    provider.models = ['shared'];
    provider.pace = PACE;
    provider.keepsRecords = false;
    provider.say = () => ({ texts: WORDS, tokens: BILLED });
  }
  try {
    await register(options.url, providers);
    return await run(options, providers[0]);
  } finally {
    for (const provider of providers) provider.stop();
  }
}

async function register(url: string, providers: readonly ProviderServer[]): Promise<void> {
  for (const [i, { origin }] of providers.entries()) {
    const body = { id: `load-${i}`, kind: 'openai', base_url: `${origin}/v1`, model_filter: { include: ['shared'] } };
    const made = await post(`${url}/api/v1/cloud/backends`, body);
    if (made.status !== 201) throw new Error(made.text);
  }
  const targets = providers.map((_provider, i) => ({ backend: `load-${i}`, model: 'shared' }));
  const body = { targets, strategy: 'weighted', hedge_ms: HEDGE_MS };
  const set = await send(`${url}/api/v1/cloud/routes/best`, { method: 'PUT', body });
  if (set.status !== 200) throw new Error(set.text);
}

async function run({ url, seconds, perSecond, faultMs }: FailoverOptions, provider: ProviderServer): Promise<FailoverReport> {
  const report: FailoverReport = {
    nAsked: 0,
    nFailedEarly: 0,
    nFalseEnds: 0,
    nCut: 0,
    nWhole: 0,
    healthyP99Ms: 0,
    disturbedP99Ms: 0,
    disturbedP50Ms: 0,
    failures: [],
  };
  // The first answers make connections and compile code.
  await ask({ url, seconds: 2, perSecond }, emptyReport(report), []);
  const healthy: number[] = [];
  await ask({ url, seconds: Math.max(5, seconds / 5), perSecond }, report, healthy);
  const disturbed: number[] = [];
  const until = performance.now() + seconds * 1000;
  const disturbing = disturb(provider, faultMs, () => performance.now() < until);
  await ask({ url, seconds, perSecond }, report, disturbed);
  await disturbing;
  report.healthyP99Ms = quantile(healthy, 0.99);
  report.disturbedP99Ms = quantile(disturbed, 0.99);
  report.disturbedP50Ms = quantile(disturbed, 0.5);
  return report;
}

const emptyReport = (report: FailoverReport): FailoverReport => ({ ...report, failures: [] });

async function disturb(provider: ProviderServer, faultMs: number, isGoingOn: () => boolean): Promise<void> {
  for (let i = 0; isGoingOn(); i++) {
    const restore = FAULTS[i % FAULTS.length]?.(provider);
    await sleep(faultMs);
    await restore?.();
    provider.defaultFault = 'none';
    provider.pace = PACE;
  }
}

/** At a fixed rate, whatever becomes of the requests before. */
async function ask(
  { url, seconds, perSecond }: Omit<FailoverOptions, 'faultMs'>,
  report: FailoverReport,
  firstMs: number[],
): Promise<void> {
  const running: Promise<void>[] = [];
  const started = performance.now();
  for (let i = 0; i < seconds * perSecond; i++) {
    const waitMs = started + (i * 1000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    // Each is a conversation of its own, so that none keeps to a backend for its cache.
    running.push(watch(url, `Question ${report.nAsked++} of ${Math.round(started)}`, report, firstMs));
  }
  await Promise.all(running);
}

async function watch(url: string, content: string, report: FailoverReport, firstMs: number[]): Promise<void> {
  const answer = await watchChat(url, { model: 'best', messages: [{ role: 'user', content }] });
  if (answer.firstMs === undefined) {
    report.nFailedEarly += 1;
    if (report.failures.length < 20) report.failures.push(`${answer.status} ${answer.end} ${answer.text.slice(0, 300)}`);
    return;
  }
  firstMs.push(answer.firstMs);
  const isWhole = WORDS.every((word) => answer.text.includes(JSON.stringify(word).slice(1, -1)));
  if (answer.end === 'clean' && !isWhole) report.nFalseEnds += 1;
  else if (answer.end === 'clean') report.nWhole += 1;
  else report.nCut += 1;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
