/** The faults: one after the other befalls a node or its links, and beside that the database fails over. */
import { setTimeout as wait } from 'node:timers/promises';
import type { SeededRandom } from '../../../models/random/seeded-random.ts';
import type { FaultyRelay } from '../../test-support/faulty-relay.ts';
import { type ClusterNode, type Nodes, portsOf } from './nodes.ts';
import type { Patroni } from './patroni.ts';
import type { SoakRecord } from './record.ts';

/** After these faults a client's own connection may break, or the node may say that it cannot judge or answer now. */
export const KILLED = 'kill -9';
export const STOPPED = 'SIGSTOP';
export const ALONE = 'partition';

/** One fault of the database at a time: two in a row take it away for longer than requests wait, and each of these is then refused as it should be. */
export class DatabaseFaults {
  #last: Promise<unknown> = Promise.resolve();

  run(fault: () => Promise<void>): Promise<void> {
    const run = this.#last.then(fault);
    this.#last = run.catch(() => undefined).then(() => wait(FOUND_AGAIN_MS));
    return run;
  }
}

/** Nodes have the database again by then. */
const FOUND_AGAIN_MS = 5_000;

interface FaultSite {
  readonly databaseFaults: DatabaseFaults;
  readonly nodes: Nodes;
  readonly patroni: Patroni;
  readonly record: SoakRecord;
  readonly random: SeededRandom;
}

type Fault = (site: FaultSite, node: ClusterNode) => Promise<void>;

/** Less than requests wait. */
const LONGEST_MS = 15_000;

function aWhile({ random }: FaultSite, mostMs = LONGEST_MS): Promise<void> {
  return wait(2_000 + random.integer(mostMs - 2_000));
}

const kill: Fault = async (site, node) => {
  await node.stop('SIGKILL');
  await aWhile(site, 5_000);
  await startAgain(site.record, node);
};

const stop: Fault = async (site, node) => {
  node.signal('SIGSTOP');
  await aWhile(site);
  node.signal('SIGCONT');
};

const cut: Fault = async ({ random }, { link }) => {
  for (let i = 0; i < 5; i++) {
    link.cut();
    await wait(random.integer(1_500));
  }
};

const halfClose: Fault = async ({ random }, { link }) => {
  for (let i = 0; i < 5; i++) {
    link.halfClose(random.pick(['dialer', 'target']));
    await wait(random.integer(1_500));
  }
};

const delay: Fault = async (site, { link }) => {
  link.delayMs = 50 + site.random.integer(350);
  await aWhile(site);
  link.heal();
};

/** It reaches the others, and none of them reaches it. */
const hide: Fault = async (site, { link }) => {
  link.hold(() => true);
  await aWhile(site);
  link.heal();
};

/** Its clients alone reach it, and it reaches nobody. */
const isolate: Fault = async (site, node) => {
  const { all } = site.nodes;
  let ports = portsOf(node.pid);
  const isFromNode = (from: number): boolean => {
    // A connection that was opened since.
    if (!ports.has(from)) ports = portsOf(node.pid);
    return ports.get(from) ?? false;
  };
  for (const { link } of all) link.hold(isFromNode);
  for (const relay of [node.link, ...node.database]) relay.hold(() => true);
  await aWhile(site);
  for (const relay of [...all.map(({ link }) => link), ...node.database]) relay.heal();
};

const cutDatabase: Fault = async ({ random }, { database }) => {
  for (let i = 0; i < 5; i++) {
    for (const relay of database) relay.cut();
    await wait(random.integer(1_500));
  }
};

/** Its connections to the database hang, and none is reset. */
const holdDatabase: Fault = async (site, { database }) => {
  const all = (act: (relay: FaultyRelay) => void) => database.forEach(act);
  all((relay) => relay.hold(() => true));
  await aWhile(site);
  all((relay) => relay.heal());
};

const OF_NODES: readonly [string, Fault][] = [
  [KILLED, kill],
  [STOPPED, stop],
  ['links cut', cut],
  ['links half-closed', halfClose],
  ['links delayed', delay],
  ['not reached', hide],
  [ALONE, isolate],
];
const OF_DATABASE_NODES: readonly [string, Fault][] = [
  ['database cut', cutDatabase],
  ['database hangs', holdDatabase],
];

const TAKES_DATABASE = new Set(OF_DATABASE_NODES.map(([name]) => name));

/** One fault after the other, each kind as often as any, until `isOver`. */
export async function disturbNodes(site: FaultSite, isOver: () => boolean): Promise<void> {
  const { nodes, random, record } = site;
  const all = [...OF_NODES, ...OF_DATABASE_NODES];
  for (let left = [...all]; !isOver(); left = left.length === 0 ? [...all] : left) {
    const [name, fault] = left.splice(random.integer(left.length), 1)[0] as [string, Fault];
    const able = nodes.all.filter(({ database }) => !OF_DATABASE_NODES.some(([of]) => of === name) || database.length > 0);
    const node = able[random.integer(able.length)] as ClusterNode;
    const befall = () => during(record, name, node, () => fault(site, node));
    await (TAKES_DATABASE.has(name) ? site.databaseFaults.run(befall) : befall());
    await reviveDead(site);
    await wait(2_000 + random.integer(4_000));
  }
}

/** Failovers one after the other, with a synchronous standby each time, until `isOver`. */
export async function disturbDatabase(
  { patroni, random, record, databaseFaults }: FaultSite,
  isOver: () => boolean,
): Promise<void> {
  const kinds: readonly [string, () => Promise<(() => Promise<void>) | undefined>][] = [
    ['database killed', () => patroni.killPrimary()],
    ['database switched over', () => patroni.switchOver().then(() => undefined)],
    ['database stopped', () => patroni.stopPrimary()],
  ];
  for (let i = 0; !isOver(); i++) {
    await wait(10_000 + random.integer(30_000));
    const [name, fault] = kinds[i % kinds.length] as (typeof kinds)[number];
    let back: (() => Promise<void>) | undefined;
    await databaseFaults.run(() =>
      during(record, name, undefined, async () => {
        back = await fault();
      }),
    );
    await wait(3_000);
    await back?.();
  }
}

async function during(record: SoakRecord, name: string, node: ClusterNode | undefined, work: () => Promise<void>): Promise<void> {
  const span = record.begin(name, node);
  try {
    await work();
  } finally {
    span.end();
  }
}

/** A node that ended by itself, or does not start, is a fault of the program. */
async function reviveDead({ nodes, record }: FaultSite): Promise<void> {
  for (const node of nodes.all.filter(({ isRunning }) => !isRunning)) {
    record.violate(`${node.name} ended by itself: its last lines are in its log`);
    await node.stop('SIGKILL');
    await startAgain(record, node);
  }
}

async function startAgain(record: SoakRecord, node: ClusterNode): Promise<void> {
  const span = record.begin(KILLED, node);
  for (let isUp = false; !isUp; ) {
    const from = record.now();
    isUp = await node.start().then(
      () => true,
      (error: Error) => {
        record.missed(`${node.name} does not start: ${error.message}`, from);
        return false;
      },
    );
  }
  span.end();
}
