/** Nodes, orders and the leader in the database that the nodes share. All times are the database's: the clocks of nodes may be wrong. */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Role } from '../../platform/module/module-names.ts';
import { databaseTime, type StorageAccess, systemScope } from '../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../platform/time-ordered-id.ts';
import { grantLease } from './protocol/lease.ts';
import { type DatabaseCopies, readCopies } from './replica/database-copies.ts';
import type { CertificateRow, ClusterRow, ClusterTables, NodeRow } from './tables.ts';

export type NodeOrder = { kind: 'role'; role: Role; enabled: boolean } | { kind: 'drain' } | { kind: 'resume' };

/** A node as it was at its last heartbeat. */
export type NodeEntry = Omit<NodeRow, 'seen_at'> & { seenMsAgo: number };

interface ClusterState extends Pick<ClusterRow, 'id' | 'epoch' | 'map_version' | 'promotions'> {
  /** Undefined: nobody leads now. */
  leader: string | undefined;
}

interface PendingOrder {
  id: string;
  order: NodeOrder;
}

const all = systemScope();
/** Nodes of one database tell each other there that one was removed. */
export const REMOVALS = 'svc_cluster_removals';

/** The list of nodes: the database, or a controller that is asked for it. */
export type Registry = Pick<NodeStore, keyof NodeStore>;

export class NodeStore {
  readonly #storage: StorageAccess<ClusterTables>;
  readonly #onRemoved: () => void;

  /** `onRemoved`: this process has removed a node; others of the database are told by `REMOVALS`. */
  constructor(storage: StorageAccess<ClusterTables>, onRemoved: () => void = () => undefined) {
    this.#storage = storage;
    this.#onRemoved = onRemoved;
  }

  /** Makes the one row of a new cluster. */
  async open(): Promise<void> {
    const row = { one: 1, id: randomUUID(), epoch: 0, leader: null, lease_until: 0, map_version: 0, promotions: 0 };
    await this.#storage.writeUnit(all, (db) => [
      db
        .insertInto('cluster_state')
        .values(row)
        .onConflict((conflict) => conflict.doNothing()),
    ]);
  }

  /** Writes what a node tells of itself. Resolves to the process that told of it last; undefined: none has. */
  async beat(node: Omit<NodeRow, 'seen_at'>): Promise<string | undefined> {
    const seen = databaseTime(this.#storage.dialect);
    return await this.#storage.write(all, async (db) => {
      const known = await db.selectFrom('cluster_nodes').selectAll().where('id', '=', node.id).executeTakeFirst();
      await db
        .insertInto('cluster_nodes')
        .values({ ...node, seen_at: seen })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...node, seen_at: seen }))
        .execute();
      if (known === undefined || MAPPED.some((name) => known[name] !== node[name])) await countChange(db);
      return known?.boot;
    });
  }

  /** A node that ends in order is not waited for. */
  async leave(id: string): Promise<void> {
    await this.#storage.write(all, async (db) => {
      await db.updateTable('cluster_nodes').set({ ended: 1 }).where('id', '=', id).execute();
      await db.updateTable('cluster_state').set({ leader: null, lease_until: 0 }).where('leader', '=', id).execute();
      await countChange(db);
    });
  }

  /** The nodes, in the order of their names. */
  async nodes(): Promise<NodeEntry[]> {
    const rows = await this.#storage.read(all, (db) =>
      db
        .selectFrom('cluster_nodes')
        .selectAll()
        .select(sql<number>`${databaseTime(this.#storage.dialect)} - seen_at`.as('seenMsAgo'))
        .orderBy('name')
        .orderBy('id')
        .execute(),
    );
    return rows.map(({ seen_at: _, ...entry }) => entry);
  }

  async state(): Promise<ClusterState> {
    const time = databaseTime(this.#storage.dialect);
    const row = await this.#storage.read(all, (db) =>
      db
        .selectFrom('cluster_state')
        .select(['id', 'epoch', 'map_version', 'promotions'])
        .select(sql<string | null>`case when lease_until > ${time} then leader end`.as('leader'))
        .executeTakeFirstOrThrow(),
    );
    return { ...row, leader: row.leader ?? undefined };
  }

  /** Reads the database's clock, and its copies (undefined on SQLite), for `svc doctor`. */
  async examine(): Promise<{ now: number; copies: DatabaseCopies | undefined }> {
    const time = databaseTime(this.#storage.dialect);
    return await this.#storage.read(all, async (db) => {
      const { rows } = await sql<{ now: number }>`select ${time} as now`.execute(db);
      const copies = this.#storage.dialect === 'sqlite' ? undefined : await readCopies(db);
      return { now: Number(rows[0]?.now), copies };
    });
  }

  /** The epoch in which the node leads from now on; undefined: another one leads. `held` is the epoch in which this process leads already. */
  async lead(id: string, leaseMs: number, held: number | undefined): Promise<number | undefined> {
    const time = databaseTime(this.#storage.dialect);
    const seen = await this.#storage.read(all, (db) =>
      db
        .selectFrom('cluster_state')
        .select(['leader', 'epoch', 'lease_until'])
        .select(sql<number>`${time}`.as('now'))
        .executeTakeFirstOrThrow(),
    );
    const lease = grantLease({ ...seen, leaseUntil: seen.lease_until }, { id, held, now: seen.now, leaseMs });
    if (lease === undefined) return undefined;
    const [taken] = await this.#storage.writeUnit(all, (db) => [
      db
        .updateTable('cluster_state')
        .set({ leader: lease.leader, epoch: lease.epoch, lease_until: lease.leaseUntil })
        .where('epoch', '=', seen.epoch)
        .where('lease_until', '=', seen.lease_until),
    ]);
    return taken?.affectedRows === 1 ? lease.epoch : undefined;
  }

  /** A duty of the leader alone, in its epoch: entries go that told nothing for so long. Their number; 0 for who no longer leads. */
  async forget(epoch: number, olderMs: number): Promise<number> {
    const time = databaseTime(this.#storage.dialect);
    return await this.#storage.write(all, async (db) => {
      // An update, so that the epoch lasts until the end of this transaction.
      const fence = db.updateTable('cluster_state').set({ epoch }).where('epoch', '=', epoch);
      if ((await fence.executeTakeFirstOrThrow()).numUpdatedRows === 0n) return 0;
      const { numDeletedRows } = await db
        .deleteFrom('cluster_nodes')
        .where(sql<number>`${time} - seen_at`, '>', olderMs)
        .executeTakeFirstOrThrow();
      const known = db.selectFrom('cluster_nodes').select('id');
      await db.deleteFrom('cluster_certificates').where('node', 'not in', known).execute();
      if (numDeletedRows > 0n) await countChange(db);
      return Number(numDeletedRows);
    });
  }

  /** A standby takes the primary's place: it has an epoch of its own, and all others are its members. */
  async promote(id: string): Promise<void> {
    await this.#storage.write(all, async (db) => {
      await db
        .updateTable('cluster_state')
        .set((state) => ({
          epoch: state('epoch', '+', 1),
          promotions: state('promotions', '+', 1),
          leader: null,
          lease_until: 0,
        }))
        .execute();
      // The primary that was is a standby when it comes back; members stay what they were.
      const before = db.updateTable('cluster_certificates').set({ is_member: 1, is_standby: 1 });
      await before.where('is_member', '=', 0).where('node', '!=', id).execute();
      await db.updateTable('cluster_certificates').set({ is_member: 0, is_standby: 0 }).where('node', '=', id).execute();
      await db.deleteFrom('cluster_orders').execute();
      await countChange(db);
    });
  }

  /** Has the other nodes trust a certificate of this one. */
  async register(row: CertificateRow): Promise<void> {
    const time = databaseTime(this.#storage.dialect);
    await this.#storage.writeUnit(all, (db) => [
      db.deleteFrom('cluster_certificates').where('node', '=', row.node).where('expires_at', '<', time),
      db
        .insertInto('cluster_certificates')
        .values(row)
        .onConflict((conflict) => conflict.doNothing()),
    ]);
  }

  /** Those that are valid. */
  async certificates(): Promise<CertificateRow[]> {
    const time = databaseTime(this.#storage.dialect);
    return await this.#storage.read(all, (db) =>
      db.selectFrom('cluster_certificates').selectAll().where('expires_at', '>', time).orderBy('fingerprint').execute(),
    );
  }

  /** Lasts for so long. Those that have expired go. */
  async addJoinToken(hash: string, roles: readonly Role[], lastsMs: number): Promise<void> {
    const time = databaseTime(this.#storage.dialect);
    const row = { hash, roles: JSON.stringify(roles), expires_at: sql<number>`${time} + ${lastsMs}` };
    await this.#storage.writeUnit(all, (db) => [
      db.deleteFrom('cluster_join_tokens').where('expires_at', '<', time),
      db.insertInto('cluster_join_tokens').values(row),
    ]);
  }

  /** The roles of whoever has the token, once; undefined: it was used, has expired, or was never made. */
  async useJoinToken(hash: string): Promise<Role[] | undefined> {
    const time = databaseTime(this.#storage.dialect);
    const [taken] = await this.#storage.writeUnit(all, (db) => [
      db.deleteFrom('cluster_join_tokens').where('hash', '=', hash).where('expires_at', '>', time).returning('roles'),
    ]);
    const roles = taken?.affectedRows === 1 ? taken.rows[0]?.['roles'] : undefined;
    return roles === undefined ? undefined : (JSON.parse(roles as string) as Role[]);
  }

  /** False: there is no such node. */
  async remove(id: string): Promise<boolean> {
    const isRemoved = await this.#storage.write(all, async (db) => {
      const { numDeletedRows } = await db.deleteFrom('cluster_nodes').where('id', '=', id).executeTakeFirstOrThrow();
      await db.deleteFrom('cluster_orders').where('node', '=', id).execute();
      const certificates = await db.deleteFrom('cluster_certificates').where('node', '=', id).executeTakeFirstOrThrow();
      if (numDeletedRows > 0n) await countChange(db);
      if (this.#storage.dialect !== 'sqlite') await sql`select pg_notify(${REMOVALS}, '')`.execute(db);
      // One that joined and has not said yet how it is has no more than its certificate.
      return numDeletedRows + certificates.numDeletedRows > 0n;
    });
    this.#onRemoved();
    return isRemoved;
  }

  async order(node: string, order: NodeOrder): Promise<string> {
    const id = newTimeOrderedId();
    const row = { id, node, order: JSON.stringify(order), made_at: databaseTime(this.#storage.dialect) };
    const isOfData = order.kind === 'role' && order.role === 'data';
    const standby = (db: Kysely<ClusterTables>) =>
      db
        .updateTable('cluster_certificates')
        .set({ is_standby: isOfData && order.enabled ? 1 : 0 })
        .where('node', '=', node)
        .where('is_member', '=', 1);
    await this.#storage.writeUnit(all, (db) => [db.insertInto('cluster_orders').values(row), ...(isOfData ? [standby(db)] : [])]);
    return id;
  }

  /** Oldest first. */
  async orders(node: string): Promise<PendingOrder[]> {
    const rows = await this.#storage.read(all, (db) =>
      db.selectFrom('cluster_orders').select(['id', 'order']).where('node', '=', node).orderBy('id').execute(),
    );
    return rows.map(({ id, order }) => ({ id, order: JSON.parse(order) as NodeOrder }));
  }

  /** Whether the order was still to be done: it is not any more, for whoever asks first. */
  async take(id: string): Promise<boolean> {
    const [taken] = await this.#storage.writeUnit(all, (db) => [db.deleteFrom('cluster_orders').where('id', '=', id)]);
    return taken?.affectedRows === 1;
  }
}

/** A change of one of these is a change of the map, by which requests could be routed. */
const MAPPED = ['name', 'address', 'version', 'roles', 'modules', 'models', 'draining', 'ended'] as const;

async function countChange(db: Kysely<ClusterTables>): Promise<void> {
  await db
    .updateTable('cluster_state')
    .set((state) => ({ map_version: state('map_version', '+', 1) }))
    .execute();
}
