/**
 * `npm run soak -- [--minutes 30] [--seed 1] [--clients 8]`: the long version of soak.test.ts, which also judges memory and what another tenant waits.
 * With `--cluster`: nine nodes while processes, links and the database fail.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runSoakServer } from './server.ts';
import { clusterSoak } from './soak/cluster/cluster-soak.ts';
import { Patroni } from './soak/cluster/patroni.ts';
import { soak } from './soak/soak.ts';

/** Growth over the warm state that allocators and caches explain. */
const allowedGrowth = { ratio: 1.15, bytes: 32 * 2 ** 20 };
/** Another tenant may wait so much longer beside hostile visits than without them. */
const allowedWait = { ratio: 2, ms: 250 };

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    clients: { type: 'string', default: '8' },
    cluster: { type: 'boolean', default: false },
  },
});
const options = { seconds: Number(values.minutes) * 60, seed: Number(values.seed), nClients: Number(values.clients) };
const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;

process.exitCode = (await (values.cluster ? soakCluster() : soakServer())) ? 0 : 1;

async function soakServer(): Promise<boolean> {
  const server = await runSoakServer(mkdtempSync(join(tmpdir(), 'svc-soak-')));
  console.log(`${values.minutes} minutes, seed ${values.seed}, server pid ${server.pid}`);
  const report = await soak(server, {
    ...options,
    onProgress: ({ nVisits, nFaults }) => process.stderr.isTTY && process.stderr.write(`\r${nVisits} visits, ${nFaults} faults `),
  });
  const exit = await server.stop();

  const isFlat = report.rssEndBytes <= report.rssWarmBytes * allowedGrowth.ratio + allowedGrowth.bytes;
  const isPrompt = report.hostileP99Ms <= report.quietP99Ms * allowedWait.ratio + allowedWait.ms;
  const isHeld = report.nFaults === 0 && isFlat && isPrompt && exit.code === 0;
  const ms = (each: number) => `${Math.round(each)} ms`;
  console.log(`${report.nVisits} visits`, report.counts);
  for (const fault of report.faults) console.log(`fault: ${fault}`);
  console.log(`memory: ${mib(report.rssWarmBytes)} warm, ${mib(report.rssEndBytes)} at the end: ${isFlat ? 'flat' : 'GROWING'}`);
  console.log(`memory in each tenth of the time: ${report.rssBytes.map(mib).join(', ')}`);
  console.log(
    `another tenant: p99 ${ms(report.quietP99Ms)} without hostile visits, ${ms(report.hostileP99Ms)} beside them: ${isPrompt ? 'prompt' : 'WAITS'}`,
  );
  console.log(`server: up to the end, then exit code ${exit.code}`);
  console.log(isHeld ? 'soak: held' : `soak: FAILED (${report.nFaults} faults)`);
  return isHeld;
}

async function soakCluster(): Promise<boolean> {
  const missing = Patroni.missing();
  if (missing !== undefined) {
    console.log(`soak: SKIPPED. ${missing}`);
    return true;
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-cluster-soak-'));
  // PostgreSQL runs as a user of its own under root.
  chmodSync(folder, 0o755);
  console.log(`${values.minutes} minutes, seed ${values.seed}, in ${folder}`);
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopped.abort());
  const nViolations = await clusterSoak({ ...options, folder, signal: stopped.signal, onLine: console.log });
  if (nViolations === 0) rmSync(folder, { recursive: true });
  console.log(nViolations === 0 ? 'soak: held' : `soak: FAILED (${nViolations} violations)`);
  return nViolations === 0;
}
