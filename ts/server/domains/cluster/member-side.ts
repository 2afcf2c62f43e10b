/** This node as a member: it asks controllers for the list of nodes, keeps up with them, and may be the standby of one on SQLite. */
import type { Log } from '../../platform/log/log.ts';
import type { HealthReason } from '../../platform/module/module.ts';
import type { Node } from '../../platform/node/node.ts';
import { clusterErrors, notStandby } from './errors.ts';
import { enforceForGood, type Membership, writeMembership } from './join/membership.ts';
import { RegistryClient } from './join/registry-client.ts';
import type { ClusterLink } from './link/link.ts';
import type { NodeCertificate } from './link/node-certificate.ts';
import type { Peer } from './link/peers.ts';
import type { StateReport } from './link/work.ts';
import type { Followed, NodeSide } from './node-side.ts';
import { REPLICA_PATH } from './replica/peer-files.ts';
import type { Replication } from './replica/replication.ts';
import { Standby } from './replica/standby.ts';
import type { ReplicaBody, StorageBody } from './schemas.ts';

interface MemberParts {
  readonly node: Node;
  readonly log: Log;
  readonly membership: Membership;
  readonly certificate: NodeCertificate;
  /** Undefined: it takes no copies. */
  readonly replication: Replication | undefined;
}

export class MemberSide implements NodeSide {
  readonly isMember = true;
  readonly enforces = true;
  readonly server = undefined;
  readonly address: string | undefined;
  readonly registry: RegistryClient;
  readonly #parts: MemberParts;
  readonly #standby: Standby | undefined;
  #followed = '';
  #writing: Promise<void> = Promise.resolve();
  /** The node writes no more of its cluster to its disk. */
  #hasLeft = false;

  constructor(parts: MemberParts) {
    const { node, log, membership, certificate, replication } = parts;
    this.#parts = parts;
    this.address = membership.address;
    this.registry = new RegistryClient([...membership.controllers, ...(membership.standbys ?? [])], certificate);
    this.#standby =
      replication && new Standby({ dataDir: node.dataDir, log, replication, restart: (reason) => node.restart(reason) });
  }

  async open(): Promise<void> {}

  async start(links: ClusterLink): Promise<void> {
    const standby = this.#standby;
    if (standby === undefined) return;
    links.answerAt(REPLICA_PATH, (request) => standby.answer(request));
    await standby.start();
  }

  async stop(): Promise<void> {
    await this.#standby?.stop();
  }

  async close(): Promise<void> {
    await this.registry.close();
  }

  async state(): Promise<StateReport> {
    const replica = this.#standby?.state;
    return replica === undefined ? {} : { replica };
  }

  hear({ said: { primary } }: Peer): void {
    if (primary !== undefined) this.#standby?.hear(primary.commit);
  }

  /** Controllers come, go and renew their certificates. */
  async follow({ certificate, peers, standbys }: Followed): Promise<void> {
    const controllers = peers.map(({ id, address, certificates }) => ({ id, address, certificates }));
    const now = JSON.stringify([certificate.fingerprint, controllers, standbys]);
    if (controllers.length === 0 || now === this.#followed || this.#hasLeft) return;
    this.#writing = writeMembership(this.#parts.node.dataDir, { controllers, standbys, address: this.address });
    await this.#writing;
    await this.registry.follow([...controllers, ...standbys], certificate);
    // Whatever failed before is done again with the next list.
    this.#followed = now;
  }

  /** The node is one of its own from its next start on. Throws `node_unreachable` where no controller could be told, unless forced. */
  async leave(isForced: boolean): Promise<void> {
    const { node, log } = this.#parts;
    try {
      await this.registry.remove(node.id);
    } catch (cause) {
      if (!isForced) throw untold(cause);
      log.warn('no controller was told that this node leaves', { error: String(cause) });
    }
    this.#hasLeft = true;
    // What is under way would make it a member again.
    await this.#writing.catch(() => undefined);
    await enforceForGood(node.dataDir);
  }

  async storage(): Promise<StorageBody> {
    return { database: 'sqlite', commit: null, replicas: [] };
  }

  async sync(node: string): Promise<ReplicaBody> {
    throw notStandby(node);
  }

  /** A member promotes itself alone. */
  async promote(node: string, isForced: boolean): Promise<{ commit: number }> {
    if (node !== this.#parts.node.id || this.#standby === undefined) throw notStandby(node);
    return await this.#standby.promote(isForced);
  }

  reasons(): readonly HealthReason[] {
    return [];
  }

  lags(): readonly [node: string, seconds: number][] {
    return [];
  }
}

function untold(cause: unknown) {
  return clusterErrors.error(
    'node_unreachable',
    'No controller could be told that this node leaves: none answers, or this node was removed. `svc node leave --force` leaves all the same.',
    { cause },
  );
}
