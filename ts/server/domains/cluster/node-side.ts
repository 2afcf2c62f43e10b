/** How a node takes part in its cluster, from one start to its end: as a controller, which has the database, or as a member of those that have it. */
import type { HealthReason } from '../../platform/module/module.ts';
import type { Controller } from './join/membership.ts';
import type { RegistryServer } from './join/registry-server.ts';
import type { ClusterLink } from './link/link.ts';
import type { NodeCertificate } from './link/node-certificate.ts';
import type { Peer, PeerFacts } from './link/peers.ts';
import type { StateReport } from './link/work.ts';
import type { Registry } from './node-store.ts';
import type { ReplicaBody, StorageBody } from './schemas.ts';

/** The nodes as this one's links have them now, and its own certificate. */
export interface Followed {
  readonly certificate: NodeCertificate;
  readonly peers: readonly PeerFacts[];
  /** Those that may be a controller one day. */
  readonly standbys: readonly Controller[];
  /** Nodes have joined with a token, whether they run or not. */
  readonly hasMembers: boolean;
}

export interface NodeSide {
  /** It joined with a token: it lets nobody join, hears controllers alone, and has no callers of its own. */
  readonly isMember: boolean;
  /** It asks for credentials whether it has accounts or not. */
  readonly enforces: boolean;
  /** The list of the nodes. */
  readonly registry: Registry;
  /** Answers nodes that join, and members; undefined on a member. */
  readonly server: RegistryServer | undefined;
  /** HOST:PORT by which the others reach this node, where that was said at its join. */
  readonly address: string | undefined;
  /** Reads the database of a controller; before the links open. */
  open(): Promise<void>;
  /** Begins what it does for the copies of the data, once the links are open. Throws StartError where another node took its place. */
  start(links: ClusterLink): Promise<void>;
  /** Ends what start() began, while the links are open. */
  stop(): Promise<void>;
  /** Closes its connections, after this node has told its end. */
  close(): Promise<void>;
  /** The state of this node, as others are told. */
  state(): Promise<StateReport>;
  /** Another node has said how it is. */
  hear(peer: Peer): void;
  follow(now: Followed): Promise<void>;
  /** The copies of the data. */
  storage(): Promise<StorageBody>;
  /** Throws `not_a_standby`, `replica_failed`. */
  sync(node: string): Promise<ReplicaBody>;
  /** Throws `not_a_standby`, `replica_behind`, `replica_failed`. */
  promote(node: string, isForced: boolean): Promise<{ commit: number }>;
  /** The reasons of /health. */
  reasons(): readonly HealthReason[];
  /** How many seconds each standby is behind, by its id. */
  lags(): readonly [node: string, seconds: number][];
}
