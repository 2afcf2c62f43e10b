/** The copies of the data, whichever database it is in: what the routes ask of this node as a primary or as a standby. */
import type { StorageAccess } from '../../../platform/storage/index.ts';
import { clusterErrors } from '../errors.ts';
import type { ReplicaBody, StorageBody } from '../schemas.ts';
import type { ClusterTables } from '../tables.ts';
import type { Primary } from './primary.ts';
import { postgresReplicas } from './replica-store.ts';
import type { Standby } from './standby.ts';

interface ReplicasParts {
  readonly storage: StorageAccess<ClusterTables>;
  nodeId(): string;
  /** Undefined where no other node can have a copy of this one. */
  primary(): Primary | undefined;
  /** Undefined where this node is none. */
  standby(): Standby | undefined;
  commit(): Promise<number>;
}

export class Replicas {
  readonly #parts: ReplicasParts;

  constructor(parts: ReplicasParts) {
    this.#parts = parts;
  }

  async list(): Promise<StorageBody> {
    const { storage, primary, commit } = this.#parts;
    if (storage.dialect !== 'sqlite') return { database: 'postgres', commit: null, replicas: await postgresReplicas(storage) };
    const own = primary();
    if (own === undefined) return { database: 'sqlite', commit: null, replicas: [] };
    return { database: 'sqlite', commit: await commit(), replicas: await own.replicas() };
  }

  async sync(node: string): Promise<ReplicaBody> {
    return await this.#required(node).sync(node);
  }

  async promote(node: string, isForced: boolean): Promise<{ commit: number }> {
    const standby = node === this.#parts.nodeId() ? this.#parts.standby() : undefined;
    return await (standby?.promote(isForced) ?? this.#required(node).promote(node, isForced));
  }

  #required(node: string): Primary {
    const primary = this.#parts.primary();
    if (primary !== undefined) return primary;
    throw clusterErrors.error('not_a_standby', `The node ${node} is no standby of this one.`);
  }
}
