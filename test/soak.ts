/** `npm run soak -- [--minutes 30] [--seed 1] [--clients 8]`: the long version of soak.test.ts, which also judges memory and what another tenant waits. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runSoakServer } from './server.ts';
import { soak } from './soak/soak.ts';

/** Growth over the warm state that allocators and caches explain. */
const allowedGrowth = { ratio: 1.15, bytes: 32 * 2 ** 20 };
/** What another tenant may wait beside hostile visits, over what it waits without them. */
const allowedWait = { ratio: 2, ms: 250 };

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    clients: { type: 'string', default: '8' },
  },
});
const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;

const server = await runSoakServer(mkdtempSync(join(tmpdir(), 'svc-soak-')));
console.log(`${values.minutes} minutes, seed ${values.seed}, server pid ${server.pid}`);
const report = await soak(server, {
  seconds: Number(values.minutes) * 60,
  seed: Number(values.seed),
  nClients: Number(values.clients),
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
process.exitCode = isHeld ? 0 : 1;
