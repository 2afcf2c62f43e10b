/** The nodes of the cluster, and what an administrator has one of them do. */
import Type from 'typebox';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { ROLES } from '../../platform/module/module-names.ts';
import { clusterErrors } from './errors.ts';
import type { Member } from './member.ts';
import type { NodeOrder } from './node-store.ts';
import { NodeShape, Topology } from './schemas.ts';

const Id = Type.String({ pattern: '^[0-9a-f-]{1,64}$' });
const ById = Type.Object({ id: Id });

const { get, put, post, del } = routes({ tag: 'Cluster', auth: 'superadmin', errors: clusterErrors });

export function clusterRoutes(member: Member): Route[] {
  const ordered = async (id: string, order: NodeOrder) => {
    await member.order(id, order);
    const { nodes } = await member.topology();
    const found = nodes.find((node) => node.id === id);
    if (found === undefined) throw clusterErrors.error('node_not_found', `No node of this cluster has the id ${id}.`);
    return found;
  };
  return [
    get('/api/v1/cluster/topology', {
      auth: 'admin',
      summary: 'Nodes of the cluster, how they are, and which one leads',
      description: 'The nodes of one PostgreSQL database are a cluster; a node on SQLite is one of its own.',
      answer: Topology,
      handle: () => member.topology(),
    }),
    put('/api/v1/cluster/nodes/{id}/roles/{role}', {
      maxBody: 1024,
      summary: 'Switch a role of any node on or off, at once and for later starts',
      params: Type.Object({ id: Id, role: Type.Enum([...ROLES]) }),
      body: Type.Object({ enabled: Type.Boolean() }),
      answer: NodeShape,
      errors: ['node_not_found', 'node_unreachable'],
      handle: ({ params: { id, role }, body: { enabled } }) => ordered(id, { kind: 'role', role, enabled }),
    }),
    post('/api/v1/cluster/nodes/{id}/drain', {
      summary: 'Have a node get no new work',
      description:
        'Its `/readyz` answers 503 `draining`, so that a proxy sends nothing more there; what runs goes on. A restart ends it.',
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
    del('/api/v1/cluster/nodes/{id}', {
      summary: 'Forget a node that is gone',
      params: ById,
      errors: ['node_not_found', 'node_is_running'],
      handle: ({ params: { id } }) => member.remove(id),
    }),
  ];
}
