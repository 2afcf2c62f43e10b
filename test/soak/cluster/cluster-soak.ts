/** Nine nodes under load while processes, links and the database fail. */

import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { SeededRandom } from '../../../models/random/seeded-random.ts';
import { Contract } from '../contract.ts';
import { Books } from './books.ts';
import { DatabaseFaults, disturbDatabase, disturbNodes } from './faults.ts';
import { runClient } from './load.ts';
import { Nodes } from './nodes.ts';
import { Patroni } from './patroni.ts';
import { Processors, waitsOf } from './processors.ts';
import { endsOf, SoakRecord } from './record.ts';

interface ClusterSoakOptions {
  readonly seconds: number;
  readonly seed: number;
  readonly nClients: number;
  /** It gets all data, and the last lines that each node printed. */
  readonly folder: string;
  /** Ends it early. */
  readonly signal: AbortSignal;
  onLine(line: string): void;
}

/** Where processors were scarce for more of the time, it says little that nothing else was found. */
const MOST_SCARCE_PART = 0.5;
/** No fault begins in the last part of the time, so that what waits is answered. */
const CALM_SECONDS = 20;

/** Returns the number of violations. Each is a line, and so is each kind of fault with what came of it. */
export async function clusterSoak({ folder, ...options }: ClusterSoakOptions): Promise<number> {
  const { onLine } = options;
  const patroni = await Patroni.start(join(folder, 'database'));
  try {
    const nodes = await Nodes.start(join(folder, 'nodes'), patroni);
    onLine(`nine nodes are ready: ${nodes.all.map(({ name, pid }) => `${name} ${pid}`).join(', ')}`);
    try {
      const record = await load(nodes, patroni, options);
      report(record, onLine);
      return record.nViolations;
    } finally {
      await nodes.stop();
    }
  } finally {
    await patroni.stop();
  }
}

async function load(
  nodes: Nodes,
  patroni: Patroni,
  { seconds, seed, nClients, signal, onLine }: Omit<ClusterSoakOptions, 'folder'>,
): Promise<SoakRecord> {
  const first = nodes.all[0] as (typeof nodes.all)[number];
  const contract = new Contract(await (await fetch(`${first.url}/openapi.json`)).json());
  const record = new SoakRecord(onLine, (from) => processors.wereScarceSince(from));
  const processors = new Processors(() => ({
    at: record.now(),
    waitedMs: waitsOf([process.pid, ...nodes.all.map(({ pid }) => pid), ...patroni.pids]),
  }));
  const books = new Books();
  const isOver = (): boolean => signal.aborted || record.now() > seconds * 1_000;
  const isCalm = (): boolean => signal.aborted || record.now() > (seconds - CALM_SECONDS) * 1_000;
  const randomOf = (index: number) => new SeededRandom(seed * 1_000 + index);
  const clients = Array.from({ length: nClients }, (_, i) => runClient({ nodes, record, contract, books }, randomOf(i), isOver));
  const site = { nodes, patroni, record, databaseFaults: new DatabaseFaults() };
  const work = [
    ...clients,
    disturbNodes({ ...site, random: randomOf(nClients) }, isCalm),
    disturbDatabase({ ...site, random: randomOf(nClients + 1) }, isCalm),
    processors.watch(isOver),
  ];
  // What remains of the work goes on, so that its requests are judged as any.
  await Promise.all(work.map((each) => each.catch((error: Error) => record.violate(`the soak itself failed: ${error.stack}`))));
  await nodes.whole().catch((error: Error) => record.violate(error.message));
  // Usage that a node holds back for others is there by then.
  await wait(2_000);
  for (const fault of await books.faults(first.url, nodes.root)) record.violate(fault);
  const scarceSeconds = processors.scarceMs / 1_000;
  onLine(
    `this machine had too few processors for ${scarceSeconds.toFixed(0)} s: ${record.nNotJudged} late answers are not judged`,
  );
  if (scarceSeconds > MOST_SCARCE_PART * seconds) record.violate('processors were scarce for most of the time: it says little');
  onLine(`counted: ${books.batches.length} keys with what was answered to each, ${books.acknowledged.size} conversations`);
  return record;
}

function report(record: SoakRecord, onLine: (line: string) => void): void {
  for (const line of record.lines()) onLine(line);
  for (const what of new Set(record.asked.map((each) => each.what)))
    onLine(`${what}: ${endsOf(record.asked.filter((each) => each.what === what))}`);
}
