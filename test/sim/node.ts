/** A node of a simulated cluster: the real cycle of a node, answers that others make for it, and the writes of whichever leads. */
import type { NodeEntry } from '../../ts/server/domains/cluster/node-store.ts';
import { tryNodes } from '../../ts/server/domains/cluster/protocol/attempts.ts';
import { NodeCycle } from '../../ts/server/domains/cluster/protocol/node-cycle.ts';
import { NodeMap } from '../../ts/server/domains/cluster/protocol/node-map.ts';
import { isGone, stateOf, TICK_MS } from '../../ts/server/domains/cluster/protocol/node-state.ts';
import { Trust } from '../../ts/server/domains/cluster/protocol/trust.ts';
import type { Database } from './database.ts';
import { Process, type World } from './world.ts';

const HEARTBEAT_MS = 10_000;
const ENTRY_MS = 30_000;
/** A node trusts its list for so long: shorter than many of the simulated failures. */
export const TRUST_MS = 10_000;
const CALL_MS = 5_000;
const CONNECT_MS = 2_000;
const IDLE_MS = 8_000;
export const N_TOKENS = 12;

/** A client has this of an answer. */
export interface Answer {
  readonly begunAt: number;
  readonly entry: Process;
  readonly incarnation: number;
  /** Each names the attempt that made it. */
  readonly tokens: string[];
  end: string | undefined;
}

type Refusal = { code: 'node_lost' | 'queue_full' };

export interface SimParts {
  readonly world: World;
  readonly database: Database;
  find(id: string): SimNode | undefined;
  readonly answers: Answer[];
  /** Writes whose writer was told that they last. */
  readonly acknowledged: number[];
  /** What a node has let in: the certificate, and when. */
  readonly letIn: { certificate: string; at: number }[];
  /** Of a node that thought most others lost at once. */
  readonly panics: string[];
  /** Planted faults. */
  readonly retriesAfterContent: boolean;
  readonly trustMs: number;
  readonly freezes: boolean;
}

export class SimNode {
  readonly process: Process;
  readonly #parts: SimParts;
  #cycle!: NodeCycle;
  #map!: NodeMap;
  #trust!: Trust<string>;
  #entries: readonly NodeEntry[] = [];
  readonly #silent = new Set<string>();

  constructor(id: string, parts: SimParts) {
    this.#parts = parts;
    this.process = new Process(parts.world, id);
    this.start();
  }

  get id(): string {
    return this.process.id;
  }

  get epoch(): number | undefined {
    return this.process.isUp ? this.#cycle.leadership.epoch : undefined;
  }

  /** The states of the others as this node has last read them. */
  stateOf(id: string): string | undefined {
    const entry = this.#entries.find((each) => each.id === id);
    return entry && stateOf(entry, ENTRY_MS);
  }

  start(): void {
    const { id, process } = this;
    const { database } = this.#parts;
    process.isUp = true;
    this.#entries = [];
    this.#map = new NodeMap({ ownId: () => id, entryMs: ENTRY_MS });
    this.#trust = new Trust({ now: () => process.now(), lastsMs: this.#parts.trustMs });
    this.#silent.clear();
    const told = { id, name: id, address: id, version: '1', roles: '[]', modules: '[]', models: '[]', load: '{}' };
    const boot = `${id}.${process.incarnation}`;
    const entry = { ...told, draining: 0, ended: 0, heartbeat_ms: HEARTBEAT_MS, wire: 1, boot };
    this.#cycle = new NodeCycle({
      heartbeatMs: HEARTBEAT_MS,
      entryMs: ENTRY_MS,
      now: () => process.now(),
      beat: (each) => this.#ask(() => database.beat(each)),
      lead: (leaseMs, held) => this.#ask(() => database.lead(id, leaseMs, held)),
      nodes: () => this.#ask(() => database.nodes()),
      mayLead: () => true,
      describe: async () => entry,
      facts: async () => ({}),
      onLead: async () => {},
      onTwin: () => this.#parts.panics.push(`${id} takes itself for a copy`),
    });
    this.#repeat(TICK_MS, () => this.#cycle.run());
    this.#repeat(1_000, () => this.#meet());
    this.#repeat(700, () => this.#write());
    this.#repeat(2_500, () => this.#answerClient());
  }

  #ask<T>(question: () => Promise<T>): Promise<T> {
    const { world, database } = this.#parts;
    return world.call(this.process, database.process, question, CALL_MS);
  }

  /** A round that fails is over, and another one comes. */
  #repeat(ms: number, run: () => Promise<void>): void {
    const again = () => this.process.after(ms, () => this.#repeat(ms, run));
    run().then(again, again);
  }

  async #meet(): Promise<void> {
    const { world, database, find } = this.#parts;
    const askedAt = this.process.now();
    this.#trust.read(await this.#ask(() => database.certificates()), askedAt);
    const read = await this.#ask(() => database.nodes());
    const entries = this.#parts.freezes ? this.#map.take(read) : read;
    this.#watch(entries);
    this.#entries = entries;
    for (const id of [...this.#silent]) {
      const peer = find(id);
      if (peer === undefined) continue;
      const probe = world.call(this.process, peer.process, async () => {}, CONNECT_MS);
      probe.then(() => this.#silent.delete(id)).catch(() => {});
    }
  }

  /** Whether it lets the owner of a certificate in. */
  admit(certificate: string): void {
    const { letIn, world } = this.#parts;
    if (this.#trust.current.includes(certificate)) letIn.push({ certificate, at: world.now });
  }

  /** Nodes fall silent one after the other; that most do so between two readings is no news of them. */
  #watch(entries: readonly NodeEntry[]): void {
    const ready = this.#entries.filter(({ id }) => id !== this.id && this.stateOf(id) === 'ready').map(({ id }) => id);
    const lost = entries.filter((entry) => ready.includes(entry.id) && stateOf(entry, ENTRY_MS) !== 'ready');
    const isNews = lost.some((entry) => isGone({ ...entry, seenMsAgo: entry.seenMsAgo / 2 }, ENTRY_MS));
    if (!isNews && ready.length > 1 && lost.length * 2 > ready.length)
      this.#parts.panics.push(`${this.id} thinks most others lost`);
  }

  async #write(): Promise<void> {
    const { database, acknowledged, world } = this.#parts;
    const { epoch } = this;
    if (epoch === undefined) return;
    // It takes its time between the question whether it leads and the write, as real work does.
    await new Promise<void>((resolve) => this.process.after(world.random.next() * 300, resolve));
    const write = { epoch, writer: `${this.id}.${this.process.incarnation}`, number: world.random.integer(2 ** 31) };
    if (await this.#ask(() => database.write(write))) acknowledged.push(write.number);
  }

  async #answerClient(): Promise<void> {
    const { answers, world, find } = this.#parts;
    const { incarnation } = this.process;
    const answer: Answer = { begunAt: world.now, entry: this.process, incarnation, tokens: [], end: undefined };
    answers.push(answer);
    const failure = await tryNodes<SimNode, Refusal>({
      tried: new Set(),
      choose: (tried) => {
        const able = this.#entries
          .filter(({ id }) => id !== this.id && this.stateOf(id) === 'ready' && !this.#silent.has(id))
          .flatMap(({ id }) => find(id) ?? [])
          .filter((node) => !tried.has(node));
        return able[world.random.integer(Math.max(1, able.length))];
      },
      attempt: (node) => this.#attempt(node, answer),
      hasBegun: () => !this.#parts.retriesAfterContent && answer.tokens.length > 0,
      mayTryElsewhere: () => true,
      isOver: () => false,
    });
    answer.end = failure === undefined ? 'ok' : failure === 'nobody' ? 'node_lost' : failure.code;
  }

  #attempt(node: SimNode, answer: Answer): Promise<Refusal | undefined> {
    const { world } = this.#parts;
    const { incarnation } = this.process;
    const attempt = `${node.id}-${world.random.integer(2 ** 31)}`;
    return new Promise((resolve) => {
      let nHeard = 0;
      let isEnded = false;
      const end = (failure: Refusal | undefined): void => {
        isEnded = true;
        resolve(failure);
      };
      const watch = (limitMs: number): void => {
        const before = nHeard;
        this.process.after(limitMs, () => {
          if (isEnded || nHeard !== before) return;
          this.#silent.add(node.id);
          end({ code: 'node_lost' });
        });
      };
      watch(CONNECT_MS);
      world.send(this.process, node.process, () => {
        node.#stream(this.process, (token) => {
          // Of the process that asked: one that was started meanwhile has no such connection.
          if (isEnded || this.process.incarnation !== incarnation) return;
          nHeard += 1;
          if (token === 'full') return end({ code: 'queue_full' });
          if (token === 'done') return end(undefined);
          if (token !== 'accepted') answer.tokens.push(`${attempt}:${token}`);
          watch(IDLE_MS);
        });
      });
    });
  }

  /** Records of an answer in order, until one is lost: then nothing more of that connection arrives. */
  #stream(client: Process, hear: (record: string) => void): void {
    const { world } = this.#parts;
    const isFull = world.random.chance(0.05);
    const records = isFull ? ['full'] : ['accepted', ...Array.from({ length: N_TOKENS }, (_, i) => String(i)), 'done'];
    let arrival: number | undefined = 0;
    const next = (): void => {
      const record = records.shift();
      if (record === undefined || arrival === undefined) return;
      arrival = world.send(this.process, client, () => hear(record), arrival);
      this.process.after(world.random.next() * 400, next);
    };
    next();
  }
}
