/**
 * `npm run soak:cloud -- [--load failover|faults] [--minutes 5] [--rate 50] [--seed 1]`: the long version of cloud-load.test.ts, which also judges
 * the wait for the first words, and memory.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { failover } from './cloud-load/failover.ts';
import { faults } from './cloud-load/faults.ts';
import { runServer } from './server.ts';

/** The first words may take so many times as long while one backend fails. */
const ALLOWED_WAIT = 2;
/** Memory at the end may be so many times that of the third tenth, when caches are warm. */
const ALLOWED_GROWTH = 1.05;

const { values } = parseArgs({
  options: {
    load: { type: 'string', default: 'failover' },
    minutes: { type: 'string', default: '5' },
    rate: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
  },
});
const [seconds, perSecond] = [Number(values.minutes) * 60, Number(values.rate)];
const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
const ms = (each: number) => `${Math.round(each)} ms`;

const folder = mkdtempSync(join(tmpdir(), 'svc-cloud-soak-'));
const env = { SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1', SVC_LOG_LEVEL: 'error' };
const server = await runServer({ folder, models: {}, env });
console.log(`${values.load} for ${values.minutes} minutes at ${perSecond} requests a second, server pid ${server.pid}`);
const isHeld = values.load === 'faults' ? await judgeFaults() : await judgeFailover();
const { code } = await server.stop();
console.log(isHeld && code === 0 ? 'held' : `FAILED (exit code of the server: ${code})`);
process.exitCode = isHeld && code === 0 ? 0 : 1;

async function judgeFailover(): Promise<boolean> {
  const report = await failover({ url: server.url, seconds, perSecond, faultMs: 5_000 });
  const { nAsked, nWhole, nCut, nFailedEarly, nFalseEnds, healthyP99Ms, disturbedP99Ms, disturbedP50Ms } = report;
  console.log(
    `${nAsked} asked: ${nWhole} whole, ${nCut} cut and said so, ${nFailedEarly} failed before they began, ${nFalseEnds} false ends`,
  );
  for (const failure of report.failures) console.log(`failed: ${failure}`);
  const ratio = disturbedP99Ms / healthyP99Ms;
  console.log(
    `first words: p99 ${ms(healthyP99Ms)} while both work, ${ms(disturbedP99Ms)} (p50 ${ms(disturbedP50Ms)}) while one fails: ${ratio.toFixed(2)}`,
  );
  return nFailedEarly === 0 && nFalseEnds === 0 && ratio <= ALLOWED_WAIT;
}

async function judgeFaults(): Promise<boolean> {
  const report = await faults(server, { seconds, perSecond, seed: Number(values.seed) });
  const { nFalseEnds, rssBytes, nSockets, nRunning, nWaiting, nHeldTokens } = report;
  const [warm = 0, end = 0] = [rssBytes[2], rssBytes.at(-1)];
  console.log(`${report.nAsked} asked, ${nFalseEnds} false ends:`, report.ends);
  console.log(`memory in each tenth of the time: ${rssBytes.map(mib).join(', ')}; ${(end / warm).toFixed(3)} of the third`);
  console.log(`left over: ${nSockets} connections, ${nRunning} running, ${nWaiting} waiting, ${nHeldTokens} tokens held`);
  return nFalseEnds === 0 && end <= warm * ALLOWED_GROWTH && nSockets + nRunning + nWaiting + nHeldTokens === 0;
}
