/** This node among those of its database: it tells how it is, does what it is asked to, and leads while no other does. */
import { randomUUID } from 'node:crypto';
import { availableParallelism, freemem, loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../../platform/log/log.ts';
import type { NotReady } from '../../platform/module/module.ts';
import type { Node } from '../../platform/node/node.ts';
import { Repeater } from '../../platform/repeater.ts';
import { clusterErrors, controllerNeedsDatabase } from './errors.ts';
import type { NodeSide } from './node-side.ts';
import type { NodeEntry, NodeOrder, Registry } from './node-store.ts';
import { NodeCycle, type Told } from './protocol/node-cycle.ts';
import type { NodeMap } from './protocol/node-map.ts';
import { stateOf, TICK_MS } from './protocol/node-state.ts';
import { nodesToUpdate } from './protocol/update-order.ts';
import { WIRE_VERSION } from './protocol/wire-version.ts';
import type { NodeState, TopologyBody } from './schemas.ts';

/** Nodes that are gone for so long are forgotten. */
const FORGET_MS = 7 * 24 * 3_600_000;

const DRAINING: NotReady = { code: 'draining', detail: 'An administrator drains this node: it is to get no new work.' };

type NodeBody = TopologyBody['nodes'][number];

interface ClusterNodeParts {
  /** No other process uses its database, and nobody links to it. */
  readonly isAlone: boolean;
  node: Node;
  log: Log;
  /** The address by which other nodes reach this one. */
  address(): string;
  heartbeatMs: number;
  entryMs: number;
  /** Names of the models that this node has itself. */
  models(): Promise<string[]>;
  /** How long another node may take to do what it is asked to. */
  orderMs: number;
  nodeMap: NodeMap;
  /** All other nodes have read the list by then; 0: they ask this one for nothing. */
  spreadMs: number;
  /** A process with this node's data folder, or a copy of it, told of the node before this one, and goes on to. */
  onTwin(): void;
  /** The link to that node does not answer now, whatever its last heartbeat says. */
  isSilent(id: string): boolean;
}

export class ClusterNode {
  readonly #parts: ClusterNodeParts;
  /** Undefined where the node is alone. */
  #registry: Registry | undefined;
  #isMember = false;
  readonly #repeater: Repeater;
  readonly #cycle: NodeCycle;
  #isDraining = false;
  #isStarted = false;
  readonly #boot = randomUUID();

  constructor(parts: ClusterNodeParts) {
    this.#parts = parts;
    const { node, heartbeatMs, entryMs } = parts;
    const registry = () => this.#registry as Registry;
    this.#cycle = new NodeCycle({
      heartbeatMs,
      entryMs,
      now: () => performance.now(),
      beat: (told) => registry().beat(told),
      lead: (leaseMs, held) => registry().lead(node.id, leaseMs, held),
      nodes: () => this.#nodes(),
      mayLead: () => this.#mayLead(),
      describe: () => this.#describe(),
      facts: () => this.#own(),
      onLead: (epoch) => this.#begin(epoch),
      onTwin: () => parts.onTwin(),
    });
    this.#repeater = new Repeater({
      intervalMs: Math.min(TICK_MS, parts.heartbeatMs),
      run: () => this.#tick(),
      onError: (error) => parts.log.warn('the list of nodes was not kept', { error: String(error) }),
    });
  }

  /** `side`: undefined where the node is alone. */
  async start(side: Pick<NodeSide, 'registry' | 'isMember'> | undefined): Promise<void> {
    if (side === undefined) return;
    this.#registry = side.registry;
    this.#isMember = side.isMember;
    await this.#registry.open();
    this.#isStarted = true;
    try {
      await this.#tick();
    } catch (error) {
      // A member begins without its controllers, and finds them later.
      if (!this.#isMember) throw error;
      this.#parts.log.warn('the list of nodes was not read', { error: String(error) });
    }
    this.#repeater.start();
  }

  async stop(): Promise<void> {
    const { node, log } = this.#parts;
    const registry = this.#registry;
    if (registry === undefined || !this.#isStarted) return;
    this.#isStarted = false;
    await this.#repeater.stop();
    this.#cycle.leadership.end();
    await registry
      .leave(node.id)
      .catch((error: unknown) => log.warn('the end of this node was not told', { error: String(error) }));
  }

  notReady(): NotReady | undefined {
    return this.#isDraining ? DRAINING : undefined;
  }

  /** The epoch in which this node leads; undefined: another one does. */
  get epoch(): number | undefined {
    return this.#parts.isAlone ? 1 : this.#cycle.leadership.epoch;
  }

  /** This node's knowledge of the others, without asking. */
  get map(): { size: number; age_seconds: number; stale: boolean } {
    const { size, ageMs } = this.#parts.isAlone ? { size: 1, ageMs: 0 } : this.#cycle.map;
    return {
      size,
      age_seconds: Math.round(ageMs / 100) / 10,
      stale: ageMs > this.#parts.entryMs || this.#parts.nodeMap.isFrozen,
    };
  }

  async topology(): Promise<TopologyBody> {
    const { node } = this.#parts;
    const registry = this.#registry;
    const own = { ...(await this.#describe()), seenMsAgo: 0 };
    if (registry === undefined)
      return {
        cluster_id: node.id,
        epoch: 1,
        leader: node.id,
        map_version: 1,
        nodes: withUpdates([this.#bodyOf(own, undefined)]),
      };
    const [state, entries, certificates] = await Promise.all([registry.state(), this.#nodes(), registry.certificates()]);
    const endOf = (id: string): number | undefined =>
      certificates.reduce<number | undefined>(
        (last, { node: of, expires_at: at }) => (of === id ? Math.max(at, last ?? 0) : last),
        undefined,
      );
    return {
      cluster_id: state.id,
      epoch: state.epoch,
      leader: state.leader ?? null,
      map_version: state.map_version,
      nodes: withUpdates(entries.map((entry) => this.#bodyOf(entry.id === own.id ? own : entry, endOf(entry.id)))),
    };
  }

  /** Has a node do something. Resolves when it is done. Throws `node_not_found`, `node_unreachable`, `controller_needs_database`. */
  async order(id: string, order: NodeOrder): Promise<void> {
    const { spreadMs } = this.#parts;
    const makesController = order.kind === 'role' && order.role === 'controller' && order.enabled;
    if (makesController && (await this.#hasJoined(id))) throw controllerNeedsDatabase();
    await this.#have(id, order);
    // Whoever drains a node may stop it next: by then no other one sends it anything new.
    if (order.kind === 'drain') await wait(spreadMs);
  }

  async #have(id: string, order: NodeOrder): Promise<void> {
    const { node, orderMs } = this.#parts;
    if (id === node.id) {
      await this.#obey(order);
      if (this.#registry !== undefined) await this.#cycle.tell();
      return;
    }
    await this.#require(id, ['ready', 'draining', 'suspect']);
    const registry = this.#registry as Registry;
    const asked = await registry.order(id, order);
    const giveUpAt = performance.now() + orderMs;
    while (performance.now() < giveUpAt) {
      await wait(100);
      const waiting = await registry.orders(id);
      if (!waiting.some((one) => one.id === asked)) return;
    }
    if (await registry.take(asked)) throw unreachable(id);
  }

  /** Forgets a node that is gone. Throws `node_not_found`, `node_is_running`. */
  async remove(id: string): Promise<void> {
    // A member that runs is kept out by the end of its certificate; others read the database, and would be back.
    if (!(await this.#hasJoined(id))) await this.#require(id, ['gone']);
    if (!(await this.#registry?.remove(id))) throw unknown(id);
  }

  /** It joined with a token. */
  async #hasJoined(id: string): Promise<boolean> {
    const certificates = (await this.#registry?.certificates()) ?? [];
    return certificates.some(({ node, is_member: joined }) => node === id && joined === 1);
  }

  async #nodes(): Promise<readonly NodeEntry[]> {
    return this.#parts.nodeMap.take(await (this.#registry as Registry).nodes());
  }

  async #require(id: string, states: readonly NodeState[]): Promise<void> {
    const found = (await this.topology()).nodes.find((each) => each.id === id);
    if (found === undefined) throw unknown(id);
    if (states.includes(found.state)) return;
    if (found.state === 'gone') throw unreachable(id);
    throw clusterErrors.error('node_is_running', `The node ${found.name} runs, and would be back at its next heartbeat.`);
  }

  async #tick(): Promise<void> {
    const { node, log } = this.#parts;
    const registry = this.#registry;
    if (registry === undefined) return;
    const orders = await registry.orders(node.id);
    for (const { id, order } of orders) {
      await this.#obey(order).catch((error: unknown) =>
        log.error('this node did not do what another one asked it to', { ...order, error: String(error) }),
      );
      // The new state is told first: whoever asked reads it once the order is gone.
      await this.#cycle.tell();
      await registry.take(id);
    }
    await this.#cycle.run();
  }

  async #begin(epoch: number): Promise<void> {
    const { log } = this.#parts;
    log.info('this node leads', { epoch });
    const nForgotten = await (this.#registry as Registry).forget(epoch, FORGET_MS);
    if (nForgotten > 0) log.info('nodes that are gone for long were forgotten', { nodes: nForgotten });
  }

  #mayLead(): boolean {
    return (
      !this.#isMember &&
      !this.#isDraining &&
      this.#parts.node.roles().some(({ role, enabled }) => role === 'controller' && enabled)
    );
  }

  async #obey(order: NodeOrder): Promise<void> {
    const { node, log } = this.#parts;
    if (order.kind === 'role') await node.setRole(order.role, order.enabled);
    else {
      this.#isDraining = order.kind === 'drain';
      this.#cycle.leadership.renewNext();
      log.info(this.#isDraining ? 'this node is drained' : 'this node takes work again');
    }
    this.#repeater.wake();
  }

  /** Roles, models and readiness: others are told of a change at once. */
  async #own() {
    const { node, models } = this.#parts;
    const roles = node.roles().flatMap(({ role, enabled }) => (enabled ? [role] : []));
    return {
      roles: JSON.stringify(roles),
      modules: JSON.stringify(node.modules()),
      models: JSON.stringify((await models()).toSorted()),
      draining: this.#isDraining ? 1 : 0,
    };
  }

  async #describe(): Promise<Told> {
    const { node, address, heartbeatMs } = this.#parts;
    const cpu = Math.round((100 * (loadavg()[0] ?? 0)) / availableParallelism()) / 100;
    return {
      ...(await this.#own()),
      id: node.id,
      name: node.name,
      address: address(),
      version: node.version,
      load: JSON.stringify({ cpu, memory_free_bytes: freemem() }),
      heartbeat_ms: heartbeatMs,
      wire: WIRE_VERSION,
      boot: this.#boot,
      ended: 0,
    };
  }

  #bodyOf(entry: NodeEntry, certificateEnd: number | undefined): Omit<NodeBody, 'update'> {
    const { id, name, address, version, wire, seenMsAgo } = entry;
    const told = stateOf(entry, this.#parts.entryMs);
    const state = told === 'ready' && this.#parts.isSilent(id) ? 'suspect' : told;
    return {
      id,
      name,
      address,
      version,
      wire_version: wire,
      roles: JSON.parse(entry.roles),
      modules: JSON.parse(entry.modules),
      state,
      last_seen_seconds: Math.max(0, Math.round(seenMsAgo / 100) / 10),
      load: JSON.parse(entry.load),
      models: JSON.parse(entry.models),
      certificate_expires_at: certificateEnd === undefined ? null : new Date(certificateEnd).toISOString(),
    };
  }
}

/** Says of each node whether it is to be updated; those that are gone are not there to be. */
function withUpdates(bodies: readonly Omit<NodeBody, 'update'>[]): NodeBody[] {
  const [next, ...later] = nodesToUpdate(bodies.filter(({ state }) => state !== 'gone'));
  const updateOf = (body: Omit<NodeBody, 'update'>) => (body === next ? 'next' : later.includes(body) ? 'later' : null);
  return bodies.map((body) => ({ ...body, update: updateOf(body) }));
}

function unknown(id: string) {
  return clusterErrors.error('node_not_found', `No node of this cluster has the id ${id}.`);
}

function unreachable(id: string) {
  return clusterErrors.error('node_unreachable', `The node ${id} does not answer, and did not do it.`);
}
