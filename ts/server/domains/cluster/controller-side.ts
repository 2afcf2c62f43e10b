/** This node as a controller: it has the database of the cluster, and on SQLite it is the primary of those that have copies. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { decideAside } from '../../platform/files/staged-swap.ts';
import type { Log } from '../../platform/log/log.ts';
import type { HealthReason } from '../../platform/module/module.ts';
import { StartError } from '../../platform/module/start-error.ts';
import type { Node } from '../../platform/node/node.ts';
import { type Storage, StorageError } from '../../platform/storage/index.ts';
import { notStandby } from './errors.ts';
import { enforceForGood, membershipText } from './join/membership.ts';
import { RegistryServer } from './join/registry-server.ts';
import type { ClusterLink } from './link/link.ts';
import type { Peer } from './link/peers.ts';
import type { StateReport } from './link/work.ts';
import type { Followed, NodeSide } from './node-side.ts';
import type { NodeStore } from './node-store.ts';
import { postgresReplicas } from './replica/database-copies.ts';
import { Primary } from './replica/primary.ts';
import type { Replication } from './replica/replication.ts';
import { MEMBER_FILE, PROMOTED_FILE } from './replica/standby.ts';
import type { ReplicaBody, StorageBody } from './schemas.ts';
import type { ClusterTables } from './tables.ts';

interface ControllerParts {
  readonly node: Node;
  readonly log: Log;
  readonly store: NodeStore;
  readonly storage: Pick<Storage, 'access' | 'fence' | 'countCommits' | 'commitNumber'>;
  /** Undefined: nobody has copies of this node. */
  readonly replication: Replication | undefined;
  readonly syncMs: number;
  /** It has asked for credentials for good before. */
  readonly enforces: boolean;
}

export class ControllerSide implements NodeSide {
  readonly isMember = false;
  readonly address = undefined;
  readonly server: RegistryServer;
  readonly #parts: ControllerParts;
  readonly #isShared: boolean;
  #enforces: boolean;
  #primary: Primary | undefined;
  /** How often a standby took the place of a primary, as this node knows. */
  #promotions = 0;
  /** Resolves to what is said of the node that took this one's place, once the state of this one is kept apart. */
  #fenced: Promise<string> | undefined;

  constructor(parts: ControllerParts) {
    this.#parts = parts;
    this.#isShared = parts.storage.access<ClusterTables>().dialect !== 'sqlite';
    this.#enforces = parts.enforces;
    this.server = new RegistryServer(parts);
  }

  get enforces(): boolean {
    return this.#enforces;
  }

  get registry(): NodeStore {
    return this.#parts.store;
  }

  async open(): Promise<void> {
    if (this.#isShared) return;
    const { store, storage } = this.#parts;
    await store.open();
    await this.#finishPromotion();
    await storage.countCommits();
    this.#promotions = (await store.state()).promotions;
  }

  async start(links: ClusterLink): Promise<void> {
    if (this.#fenced !== undefined)
      throw new StartError(
        'primary_replaced',
        await this.#fenced,
        'start it again, as a service manager does: it is the standby then',
      );
    const { replication, storage, node, log, syncMs } = this.#parts;
    if (this.#isShared || replication === undefined) return;
    this.#primary = new Primary({
      log,
      replication,
      syncMs,
      commit: () => storage.commitNumber(),
      roles: () => node.roles().flatMap(({ role, enabled }) => (enabled ? [role] : [])),
      standbys: () => links.peers.filter(({ facts }) => facts.isStandby === true),
    });
    this.#primary.start();
  }

  async stop(): Promise<void> {
    await this.#primary?.stop();
  }

  async close(): Promise<void> {}

  async state(): Promise<StateReport> {
    if (this.#isShared) return {};
    const { store, storage } = this.#parts;
    const [{ epoch, promotions }, commit] = await Promise.all([store.state(), storage.commitNumber()]);
    return { primary: { commit, epoch, promotions } };
  }

  hear(peer: Peer): void {
    const { primary } = peer.said;
    // Others have no copy of the data to go on with.
    if (primary === undefined || this.#isShared || peer.facts.isStandby !== true) return;
    if (primary.promotions > this.#promotions) this.#fence(peer, primary.epoch);
  }

  /** A member brings callers from other machines: from the first one on nobody is let in without a credential. */
  async follow({ hasMembers }: Followed): Promise<void> {
    if (this.#enforces || !hasMembers) return;
    this.#enforces = true;
    await enforceForGood(this.#parts.node.dataDir);
  }

  async storage(): Promise<StorageBody> {
    const { storage } = this.#parts;
    if (this.#isShared) return { database: 'postgres', commit: null, replicas: await postgresReplicas(storage.access()) };
    if (this.#primary === undefined) return { database: 'sqlite', commit: null, replicas: [] };
    return { database: 'sqlite', commit: await storage.commitNumber(), replicas: await this.#primary.replicas() };
  }

  async sync(node: string): Promise<ReplicaBody> {
    return await this.#primaryOf(node).sync(node);
  }

  async promote(node: string, isForced: boolean): Promise<{ commit: number }> {
    return await this.#primaryOf(node).promote(node, isForced);
  }

  reasons(): readonly HealthReason[] {
    return this.#primary?.reasons() ?? [];
  }

  lags(): readonly [node: string, seconds: number][] {
    return this.#primary?.lags() ?? [];
  }

  #primaryOf(node: string): Primary {
    if (this.#primary !== undefined) return this.#primary;
    throw notStandby(node);
  }

  /** The first start as the primary that this node was not before. */
  async #finishPromotion(): Promise<void> {
    const { node, store, log } = this.#parts;
    const file = join(node.dataDir, PROMOTED_FILE);
    const wasPromoted = await readFile(file).then(
      () => true,
      () => false,
    );
    if (!wasPromoted) return;
    await store.promote(node.id);
    await rm(file);
    log.warn('this node took the place of the primary', { epoch: (await store.state()).epoch });
  }

  /** A standby took this node's place: it writes nothing more, keeps what it has apart, and works for the other from its next start on. */
  #fence({ facts: { id, name, address, certificates } }: Peer, since: number): void {
    const { node, log, storage, replication } = this.#parts;
    if (this.#fenced !== undefined || replication === undefined) return;
    const sentence = `${name} took the place of this node as the primary, in epoch ${since}.`;
    const remedy = 'Ask that node: this one is about to start again as its standby.';
    storage.fence(new StorageError('storage_unavailable', sentence, { remedy }));
    const to = `fenced-${since}`;
    log.error('another node took the place of this one, whose state is kept apart', { node: id, epoch: since, folder: to });
    const file = membershipText({ controllers: [{ id, address, certificates }] });
    this.#fenced = decideAside(node.dataDir, { to, names: replication.names }, { [MEMBER_FILE]: file }).then(
      () => {
        node.restart('another node took its place as the primary');
        return sentence;
      },
      (error: unknown) => {
        log.error('the state of this node could not be kept apart', { error: String(error) });
        return sentence;
      },
    );
  }
}
