/** The rows of the cluster module. Times are milliseconds since 1970, by the clock of the database. */
import { column, type Migration } from '../../platform/storage/index.ts';

/** A node, as it tells of itself. */
export interface NodeRow {
  id: string;
  name: string;
  address: string;
  version: string;
  /** JSON, as the next three. */
  roles: string;
  modules: string;
  models: string;
  load: string;
  draining: number;
  /** 1: it ended in order. */
  ended: number;
  heartbeat_ms: number;
  /** The newest wire version that it speaks. */
  wire: number;
  /** Tells processes of one node apart: two at a time are a data folder and its copy. */
  boot: string;
  seen_at: number;
}

/** An order to a node, until it is carried out. */
interface OrderRow {
  id: string;
  node: string;
  /** JSON: NodeOrder. */
  order: string;
  made_at: number;
}

/** One row: the cluster, and who leads it. */
export interface ClusterRow {
  one: number;
  id: string;
  /** Counts the leaders; what one of them writes names its own. */
  epoch: number;
  leader: string | null;
  lease_until: number;
  /** Counts the changes of the map: nodes, their versions, roles and models. */
  map_version: number;
  /** Counts how often a standby took the place of a primary. */
  promotions: number;
}

/** A certificate by which a node is trusted. */
export interface CertificateRow {
  fingerprint: string;
  node: string;
  pem: string;
  expires_at: number;
  /** 1: of a node that joined with a token, and reads no database. */
  is_member: number;
  /** 1: an administrator of the cluster gave the node the role data, so it may have a copy of the data and take the primary's place. */
  is_standby: number;
}

/** A token by which one node may join. */
interface JoinTokenRow {
  hash: string;
  /** JSON: the roles that the node gets. */
  roles: string;
  expires_at: number;
}

export interface ClusterTables {
  cluster_certificates: CertificateRow;
  cluster_join_tokens: JoinTokenRow;
  cluster_nodes: NodeRow;
  cluster_orders: OrderRow;
  cluster_state: ClusterRow;
}

export const clusterMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create nodes, their orders, and the leader',
    up: async (schema) => {
      await schema.table('cluster_nodes', {
        columns: {
          id: column.id(),
          name: column.text(),
          address: column.text(),
          version: column.text(),
          roles: column.json(),
          modules: column.json(),
          models: column.json(),
          load: column.json(),
          draining: column.flag(),
          ended: column.flag(),
          heartbeat_ms: column.integer(),
          seen_at: column.timestamp(),
        },
        primaryKey: ['id'],
      });
      await schema.table('cluster_orders', {
        columns: { id: column.id(), node: column.id(), order: column.json(), made_at: column.timestamp() },
        primaryKey: ['id'],
      });
      await schema.index('cluster_orders_node', 'cluster_orders', ['node']);
      await schema.table('cluster_state', {
        columns: {
          one: column.integer(),
          id: column.id(),
          epoch: column.integer(),
          leader: column.id({ nullable: true }),
          lease_until: column.timestamp(),
          map_version: column.integer(),
        },
        primaryKey: ['one'],
      });
    },
  },
  {
    id: 2,
    name: 'create the certificates of nodes',
    up: async (schema) => {
      await schema.table('cluster_certificates', {
        columns: { fingerprint: column.text(), node: column.id(), pem: column.text(), expires_at: column.timestamp() },
        primaryKey: ['fingerprint'],
      });
    },
  },
  {
    id: 3,
    name: 'create tokens by which nodes join',
    up: async (schema) => {
      await schema.addColumn('cluster_certificates', 'is_member', column.flag({ default: 0 }));
      await schema.table('cluster_join_tokens', {
        columns: { hash: column.text(), roles: column.json(), expires_at: column.timestamp() },
        primaryKey: ['hash'],
      });
    },
  },
  {
    id: 4,
    name: 'tell processes of one node apart',
    up: (schema) => schema.addColumn('cluster_nodes', 'boot', column.text({ default: '' })),
  },
  {
    id: 5,
    name: 'count the promotions of standbys',
    up: async (schema) => {
      await schema.addColumn('cluster_state', 'promotions', column.integer({ default: 0 }));
    },
  },
  {
    id: 6,
    name: 'keep the wire versions of nodes',
    up: (schema) => schema.addColumn('cluster_nodes', 'wire', column.integer({ default: 1 })),
  },
  {
    id: 7,
    name: 'keep which members may have a copy of the data',
    up: async (schema) => {
      await schema.addColumn('cluster_certificates', 'is_standby', column.flag({ default: 0 }));
      await schema.settled();
      // Until now members said so themselves.
      const db = schema.db<ClusterTables>();
      const standbys = db.selectFrom('cluster_nodes').select('id').where('modules', 'like', '%"data"%');
      await db
        .updateTable('cluster_certificates')
        .set({ is_standby: 1 })
        .where('is_member', '=', 1)
        .where('node', 'in', standbys)
        .execute();
    },
  },
];
