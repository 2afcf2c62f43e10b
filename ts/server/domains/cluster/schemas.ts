/** Shapes of the cluster's routes. */
import Type, { type Static } from 'typebox';
import { ROLES } from '../../platform/module/module-names.ts';
import { named } from '../../platform/schema/named.ts';

const State = Type.Enum(['ready', 'draining', 'suspect', 'gone'], {
  description: '`suspect`: its last heartbeat is late; `gone`: it told nothing for `cluster.entry_seconds`, or ended.',
});
export type NodeState = Static<typeof State>;

export const NodeShape = named(
  'ClusterNode',
  Type.Object({
    id: Type.String(),
    name: Type.String({ description: 'Of its machine.' }),
    address: Type.String(),
    version: Type.String(),
    wire_version: Type.Integer({ description: 'The newest version of what nodes say to each other that it speaks.' }),
    update: Type.Union([Type.Enum(['next', 'later']), Type.Null()], {
      description:
        'Of nodes that are older than the newest one, `next` is updated first: controllers and edge nodes go before the others. null: it is not older.',
    }),
    roles: Type.Array(Type.Enum([...ROLES])),
    modules: Type.Array(Type.String()),
    state: State,
    last_seen_seconds: Type.Number({ description: 'Since its last heartbeat; 0 for the node that answers.' }),
    load: Type.Object({
      cpu: Type.Number({ description: 'Average of processes that want to run, over a minute, for each core.' }),
      memory_free_bytes: Type.Integer(),
    }),
    models: Type.Array(Type.String(), { description: 'Those that the node has itself.' }),
    certificate_expires_at: Type.Union([Type.String(), Type.Null()], { description: 'null: the node has none.' }),
  }),
);

export const Topology = named(
  'ClusterTopology',
  Type.Object({
    cluster_id: Type.String(),
    epoch: Type.Integer({ description: 'Counts the leaders.' }),
    leader: Type.Union([Type.String(), Type.Null()], {
      description: 'Id of the node that leads; null for some seconds after one is lost.',
    }),
    map_version: Type.Integer({ description: 'Counts the changes of nodes, their versions, roles and models.' }),
    nodes: Type.Array(NodeShape),
  }),
);
export type TopologyBody = Static<typeof Topology>;

const Lag = Type.Union([Type.Number(), Type.Null()]);

export const ReplicaShape = named(
  'ClusterReplica',
  Type.Object({
    node: Type.Union([Type.String(), Type.Null()], { description: 'Id of the standby; null for a replica of PostgreSQL.' }),
    name: Type.String(),
    state: Type.Enum(['ok', 'behind', 'unreachable'], {
      description: '`behind`: it lacks commits, and is older than 120 s or has nothing yet.',
    }),
    commit: Type.Union([Type.Integer(), Type.Null()], { description: 'Number of the last commit that it has.' }),
    lag_commits: Type.Union([Type.Integer(), Type.Null()]),
    lag_seconds: Lag,
    synced_at: Type.Union([Type.String(), Type.Null()], { description: 'ISO 8601, UTC.' }),
    problem: Type.Union([Type.String(), Type.Null()], { description: 'Why the last attempt came to nothing.' }),
  }),
);
export type ReplicaBody = Static<typeof ReplicaShape>;

export const ClusterStorage = named(
  'ClusterStorage',
  Type.Object({
    database: Type.Enum(['sqlite', 'postgres']),
    commit: Type.Union([Type.Integer(), Type.Null()], { description: 'Number of the last commit; null where none is counted.' }),
    replicas: Type.Array(ReplicaShape),
  }),
);
export type StorageBody = Static<typeof ClusterStorage>;
