/** One run of a simulated cluster: two minutes of faults, a calm minute, and what must hold of both. */
import { SeededRandom } from '../../models/random/seeded-random.ts';
import { grantLease } from '../../ts/server/domains/cluster/protocol/lease.ts';
import { Database } from './database.ts';
import { type Answer, N_TOKENS, SimNode, type SimParts, TRUST_MS } from './node.ts';
import { Process, World } from './world.ts';

const FAULTS_UNTIL_MS = 120_000;
const CALM_MS = 60_000;
/** The slowest clock of a node, and the reading that was under way. */
const SLOWEST_CLOCK = 0.7;
const READING_MS = 100;
/** Attempts at three nodes, each silent for as long as it may be. */
const LONGEST_ANSWER_MS = 45_000;
const NODES = ['a', 'b', 'c', 'd'];
const DOCUMENTED = new Set(['ok', 'node_lost', 'queue_full']);

/** Faults of the protocol that a run is to find. */
export const planted = {
  'lease-without-epoch': {
    grant: ((lease, request) => {
      const granted = grantLease(lease, request);
      return granted && { ...granted, epoch: 1 };
    }) satisfies typeof grantLease,
  },
  'retry-after-content': { retriesAfterContent: true },
  'trust-without-end': { trustMs: Number.POSITIVE_INFINITY },
  'map-without-freeze': { freezes: false },
} as const;
export type PlantedFault = keyof typeof planted;

/** Invariants that did not hold; empty: all did. */
export async function simulate(seed: number, fault?: PlantedFault): Promise<string[]> {
  const random = new SeededRandom(seed);
  const world = new World(random);
  const changed = (fault === undefined ? {} : planted[fault]) as Partial<SimParts> & { grant?: typeof grantLease };
  const { grant = grantLease, retriesAfterContent = false, trustMs = TRUST_MS, freezes = true } = changed;
  const database = new Database(world, grant);
  const nodes = new Map<string, SimNode>();
  const kept = { answers: [], acknowledged: [], letIn: [], panics: [] };
  const parts: SimParts = { world, database, find: (id) => nodes.get(id), ...kept, retriesAfterContent, trustMs, freezes };
  for (const id of NODES) nodes.set(id, new SimNode(id, parts));
  const revoked = comeAndGo(world, nodes, parts);
  const heals = plan(world, nodes, parts);
  await world.run(FAULTS_UNTIL_MS);
  for (const heal of heals) heal();
  await world.run(FAULTS_UNTIL_MS + CALM_MS);
  return [
    ...writerFaults(database),
    ...lostWrites(database, parts),
    ...answerFaults(parts, world.now),
    ...unrest(nodes, database),
    ...parts.letIn.flatMap(({ certificate, at }) => {
      const lateMs = at - (revoked.get(certificate) ?? at);
      return lateMs > TRUST_MS / SLOWEST_CLOCK + READING_MS
        ? [`${certificate} was let in ${Math.round(lateMs)} ms after its end`]
        : [];
    }),
    ...parts.panics,
  ];
}

/** A member shows each certificate that it ever had to any node; each is revoked after a while. When that was acknowledged, by certificate. */
function comeAndGo(world: World, nodes: Map<string, SimNode>, { database }: SimParts): ReadonlyMap<string, number> {
  const member = new Process(world, 'member');
  const revoked = new Map<string, number>();
  let certificates: string[] = [];
  const renew = async (): Promise<void> => {
    if (!database.process.isUp) return;
    const certificate = `certificate ${certificates.length}`;
    const before = certificates.at(-1);
    certificates = [...certificates, certificate];
    await database.trust(certificate);
    if (before === undefined || !database.process.isUp) return;
    await database.revoke(before);
    revoked.set(before, world.now);
  };
  const repeat = (ms: number, run: () => void): void =>
    world.after(ms, () => {
      run();
      repeat(ms, run);
    });
  repeat(7_000, () => void renew());
  repeat(400, () => {
    for (const node of nodes.values())
      for (const certificate of certificates.slice(-4)) world.send(member, node.process, () => node.admit(certificate));
  });
  return revoked;
}

/** Each fault begins at some time and is healed some seconds later, or at the end of all. */
function plan(world: World, nodes: Map<string, SimNode>, parts: SimParts): Set<() => void> {
  const { random } = world;
  const heals = new Set<() => void>();
  const nFaults = 4 + random.integer(10);
  for (let i = 0; i < nFaults; i++) {
    world.after(random.next() * FAULTS_UNTIL_MS, () => {
      const undo = begin(world, nodes, parts);
      const heal = (): void => {
        if (heals.delete(heal)) undo();
      };
      heals.add(heal);
      world.after(500 + random.exponential(1 / 12_000), heal);
    });
  }
  return heals;
}

/** Begins a fault. What it gives back ends it. */
function begin(world: World, nodes: Map<string, SimNode>, parts: SimParts): () => void {
  const { random } = world;
  const { database } = parts;
  const node = random.pick([...nodes.values()] as [SimNode]);
  const ids = [...nodes.keys(), 'database'].filter((id) => id !== node.id);
  const cut = (links: readonly string[]): (() => void) => {
    for (const link of links) world.cut.add(link);
    return () => {
      for (const link of links) world.cut.delete(link);
    };
  };
  const crashNode = (id: string): (() => void) => {
    if (!node.process.isUp) return () => {};
    node.process.crash();
    return () => {
      if (id === node.id) return node.start();
      nodes.delete(node.id);
      nodes.set(id, new SimNode(id, parts));
    };
  };
  const faults: (() => () => void)[] = [
    // A node alone; one that is not heard; one that hears nothing; one without the database.
    () => cut(ids.flatMap((id) => [`${id}>${node.id}`, `${node.id}>${id}`])),
    () => cut(ids.map((id) => `${node.id}>${id}`)),
    () => cut(ids.map((id) => `${id}>${node.id}`)),
    () => cut([`${node.id}>database`]),
    () => cut([`database>${node.id}`]),
    () => crashNode(node.id),
    // With its disk it loses its name.
    () => crashNode(`${node.id}x`),
    () => {
      if (!node.process.isUp || node.process.isStopped) return () => {};
      node.process.isStopped = true;
      return () => node.process.goOn();
    },
    () => {
      node.process.setClockRate(0.7 + random.next() * 0.6);
      return () => node.process.setClockRate(1);
    },
    () => {
      database.clockOffsetMs = (random.next() - 0.5) * 40_000;
      return () => {};
    },
    () => {
      if (!database.process.isUp) return () => {};
      database.crash();
      return () => {
        database.process.isUp = true;
      };
    },
    () => {
      world.lossRate = random.next() * 0.3;
      return () => {
        world.lossRate = 0;
      };
    },
    () => {
      world.extraDelayMs = random.next() * 8_000;
      return () => {
        world.extraDelayMs = 0;
      };
    },
  ];
  return random.pick(faults as [() => () => void])();
}

function writerFaults({ durable }: Database): string[] {
  const writers = new Map<number, Set<string>>();
  for (const { epoch, writer } of durable.writes) writers.set(epoch, (writers.get(epoch) ?? new Set()).add(writer));
  return [...writers].flatMap(([epoch, all]) => (all.size > 1 ? [`epoch ${epoch} has the writers ${[...all].join(', ')}`] : []));
}

function lostWrites({ durable }: Database, { acknowledged }: SimParts): string[] {
  const kept = new Set(durable.writes.map(({ number }) => number));
  return acknowledged.flatMap((number) => (kept.has(number) ? [] : [`the acknowledged write ${number} is lost`]));
}

function answerFaults({ answers }: SimParts, now: number): string[] {
  return answers.flatMap((answer) => answerFault(answer, now) ?? []);
}

function answerFault({ begunAt, entry, incarnation, tokens, end }: Answer, now: number): string | undefined {
  const at = `the answer of ${entry.id} at ${Math.round(begunAt)} ms`;
  const makers = new Set(tokens.map((token) => token.split(':')[0]));
  if (makers.size > 1) return `${at} comes from ${[...makers].join(' and ')}`;
  if (tokens.some((token, i) => token.split(':')[1] !== String(i))) return `${at} has tokens out of order`;
  if (end === 'ok' && tokens.length !== N_TOKENS) return `${at} ended well after ${tokens.length} tokens`;
  if (end !== undefined) return DOCUMENTED.has(end) ? undefined : `${at} ended with ${end}`;
  const hasClient = entry.isUp && entry.incarnation === incarnation;
  return hasClient && now - begunAt > LONGEST_ANSWER_MS + FAULTS_UNTIL_MS ? `${at} never ended` : undefined;
}

/** After the calm minute one node leads, each node finds each other ready, and what was lost with its disk is gone. */
function unrest(nodes: ReadonlyMap<string, SimNode>, { rows }: Database): string[] {
  const leaders = [...nodes.values()].filter(({ epoch }) => epoch !== undefined);
  const faults = leaders.length === 1 ? [] : [`${leaders.length} nodes lead at the end`];
  if (leaders[0] !== undefined && leaders[0].epoch !== rows.lease.epoch) faults.push('the leader at the end has an old epoch');
  for (const node of nodes.values())
    for (const id of rows.nodes.keys()) {
      const state = node.stateOf(id);
      if (state !== (nodes.has(id) ? 'ready' : 'gone')) faults.push(`${node.id} finds ${id} ${state} at the end`);
    }
  return faults;
}
