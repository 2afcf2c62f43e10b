/** The nodes of the cluster, and what an administrator has one of them do. */
import Type from 'typebox';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { ROLES, type Role } from '../../platform/module/module-names.ts';
import type { Node } from '../../platform/node/node.ts';
import { losesDocuments, RoleSwitch } from '../../platform/node/role-switch.ts';
import type { ClusterNode } from './cluster-node.ts';
import { clusterErrors, notStandby } from './errors.ts';
import { JOIN_TOKEN_PATTERN } from './join/join-token.ts';
import type { Joining } from './join/joining.ts';
import type { NodeSide } from './node-side.ts';
import type { NodeOrder } from './node-store.ts';
import { ClusterStorage, NodeShape, ReplicaShape, type StorageBody, Topology } from './schemas.ts';

const OF_MEMBERS: Role[] = ['inference'];
const Id = Type.String({ pattern: '^[0-9a-f-]{1,64}$' });
const ById = Type.Object({ id: Id });

const { get, put, post, del } = routes({ tag: 'Cluster', auth: 'superadmin', errors: clusterErrors });

export function clusterRoutes(node: Node, self: ClusterNode, joining: Joining, side: () => NodeSide | undefined): Route[] {
  const ordered = async (id: string, order: NodeOrder) => {
    await self.order(id, order);
    const { nodes } = await self.topology();
    const found = nodes.find((node) => node.id === id);
    if (found === undefined) throw clusterErrors.error('node_not_found', `No node of this cluster has the id ${id}.`);
    return found;
  };
  const sideOf = (id: string): NodeSide => {
    const found = side();
    if (found === undefined) throw notStandby(id);
    return found;
  };
  return [
    get('/api/v1/cluster/topology', {
      auth: 'admin',
      summary: 'Nodes of the cluster, how they are, and which one leads',
      description: 'The nodes of one PostgreSQL database are a cluster; a node on SQLite is one of its own.',
      answer: Topology,
      handle: () => self.topology(),
    }),
    post('/api/v1/cluster/join-tokens', {
      maxBody: 1024,
      summary: 'Make a token by which one node joins the cluster',
      description: 'It is shown once, works once, and only its hash is kept. `svc node join` takes it on the other machine.',
      body: Type.Object({
        roles: Type.Optional(
          Type.Array(Type.Enum([...ROLES]), {
            maxItems: ROLES.length,
            description: 'That the node has from then on; inference unless told.',
          }),
        ),
        expires_in_seconds: Type.Optional(Type.Integer({ minimum: 60, maximum: 86_400, description: '3600 unless told.' })),
      }),
      answer: Type.Object({ token: Type.String(), expires_at: Type.String({ description: 'ISO 8601, UTC.' }) }),
      status: 201,
      errors: ['not_listening', 'ask_a_controller', 'controller_needs_database'],
      handle: ({ body: { roles = OF_MEMBERS, expires_in_seconds: seconds = 3600 } }) => joining.newToken(roles, seconds * 1000),
    }),
    post('/api/v1/cluster/join', {
      maxBody: 4096,
      summary: 'Have this node work for a cluster',
      description:
        'The node restarts. From then on its models answer for callers of the controllers, and it sends on what its own clients ask.',
      body: Type.Object({
        token: Type.String({ pattern: JOIN_TOKEN_PATTERN }),
        address: Type.Optional(
          Type.String({
            pattern: '^(\\[[0-9A-Fa-f:.]{2,45}\\]|[\\w.-]{1,255}):\\d{1,5}$',
            description: 'HOST:PORT by which the others reach it; kept as `cluster.address`.',
          }),
        ),
        force: Type.Optional(Type.Boolean({ description: 'Also where it has knowledge bases, which stay on its disk unused.' })),
      }),
      answer: Type.Object({ controllers: Type.Array(Type.String()) }),
      errors: [
        'join_token_invalid',
        'join_failed',
        'node_id_taken',
        'wire_version_refused',
        'already_member',
        'not_listening',
        'database_is_shared',
        'data_role_holds_data',
      ],
      handle: ({ body: { token, ...options } }) => joining.join(token, options),
    }),
    post('/api/v1/cluster/leave', {
      maxBody: 1024,
      summary: 'Have this node leave the cluster that it joined with a token',
      description:
        'The node restarts, and is one of its own then, which still asks for credentials. Its controllers trust it no more.',
      body: Type.Object({
        force: Type.Optional(
          Type.Boolean({ description: 'Also where no controller can be told, as after one has removed this node.' }),
        ),
      }),
      errors: ['not_a_member', 'node_unreachable'],
      handle: ({ body: { force = false } }) => joining.leave(force),
    }),
    put('/api/v1/cluster/nodes/{id}/roles/{role}', {
      maxBody: 1024,
      summary: 'Switch a role of any node on or off, at once and for later starts',
      params: Type.Object({ id: Id, role: Type.Enum([...ROLES]) }),
      body: RoleSwitch,
      answer: NodeShape,
      errors: ['node_not_found', 'node_unreachable', 'data_role_holds_data', 'controller_needs_database'],
      handle: async ({ params: { id, role }, body }) => {
        // Nodes that share a database hold nothing alone.
        if (id === node.id && (await losesDocuments(node, role, body)))
          throw clusterErrors.error(
            'data_role_holds_data',
            'This node has knowledge bases, which nobody would find without the role.',
          );
        return await ordered(id, { kind: 'role', role, enabled: body.enabled });
      },
    }),
    post('/api/v1/cluster/nodes/{id}/drain', {
      summary: 'Have a node get no new work',
      description:
        'Its `/readyz` answers 503 `draining`, so that a proxy sends nothing more there; what runs goes on. A restart ends it. When the answer comes, no node sends it anything new.',
      params: ById,
      answer: NodeShape,
      errors: ['node_not_found', 'node_unreachable'],
      handle: ({ params: { id } }) => ordered(id, { kind: 'drain' }),
    }),
    post('/api/v1/cluster/nodes/{id}/resume', {
      summary: 'Have a drained node take work again',
      params: ById,
      answer: NodeShape,
      errors: ['node_not_found', 'node_unreachable'],
      handle: ({ params: { id } }) => ordered(id, { kind: 'resume' }),
    }),
    get('/api/v1/cluster/storage', {
      auth: 'admin',
      summary: 'Copies of the data of this cluster, and how far behind they are',
      description: 'Standbys of a primary on SQLite, or the replicas that PostgreSQL reports.',
      answer: ClusterStorage,
      handle: async (): Promise<StorageBody> => (await side()?.storage()) ?? { database: 'sqlite', commit: null, replicas: [] },
    }),
    post('/api/v1/cluster/storage/{node}/sync', {
      summary: 'Bring a standby up to date now, and wait for it',
      params: Type.Object({ node: Id }),
      answer: ReplicaShape,
      errors: ['not_a_standby', 'replica_failed'],
      handle: ({ params: { node: id } }) => sideOf(id).sync(id),
    }),
    post('/api/v1/cluster/storage/{node}/promote', {
      maxBody: 1024,
      summary: 'Have a standby take the place of the primary',
      description:
        'It restarts as the primary in an epoch of its own. While no controller answers, accounts cannot be judged (503 ' +
        '`credential_check_unavailable`): on its machine `svc node promote` does the same, and so does this with the token in ' +
        '`data_dir/local-admin.token`.',
      params: Type.Object({ node: Id }),
      body: Type.Object({
        force: Type.Optional(
          Type.Boolean({ description: 'Also where commits of the primary are missing; they are lost there.' }),
        ),
      }),
      answer: Type.Object({ commit: Type.Integer({ description: 'Number of the last commit that it has.' }) }),
      errors: ['not_a_standby', 'replica_behind', 'replica_failed'],
      handle: ({ params: { node: id }, body: { force = false } }) => sideOf(id).promote(id, force),
    }),
    del('/api/v1/cluster/nodes/{id}', {
      summary: 'Forget a node that is gone, or end the membership of one that joined with a token',
      params: ById,
      errors: ['node_not_found', 'node_is_running'],
      handle: ({ params: { id } }) => self.remove(id),
    }),
  ];
}
