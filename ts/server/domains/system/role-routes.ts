/** The roles of this node: which modules run here. */
import Type from 'typebox';
import { json, type Route, route } from '../../platform/http/route.ts';
import { ROLES } from '../../platform/module/module-names.ts';
import type { Node } from '../../platform/node/node.ts';

const tag = 'System';
const RoleName = Type.Enum([...ROLES]);
const RoleState = Type.Object({
  role: RoleName,
  enabled: Type.Boolean(),
  modules: Type.Array(Type.String(), { description: 'Modules that the role runs; empty where this program has none yet.' }),
});
const Roles = Type.Object({ roles: Type.Array(RoleState) });

export function roleRoutes(node: Node): Route[] {
  const shown = () => json(200, { roles: node.roles() });
  return [
    route({
      method: 'GET',
      path: '/api/v1/system/roles',
      auth: 'admin',
      maxBody: 0,
      tag,
      summary: 'Roles of this node and the modules that they run',
      responses: { 200: Roles },
      handle: shown,
    }),
    route({
      method: 'PUT',
      path: '/api/v1/system/roles/{role}',
      // A role is the node's: what runs in it serves all tenants, and one of its modules enforces the roles of all.
      auth: 'superadmin',
      maxBody: 1024,
      tag,
      summary: 'Switch a role on or off, at once and for later starts',
      description: 'Routes of a module that is off answer 503 `module_unavailable`.',
      params: Type.Object({ role: RoleName }),
      body: Type.Object({ enabled: Type.Boolean() }),
      responses: { 200: Roles },
      errors: [{ status: 500, code: 'internal', meaning: 'A module could not start or stop; the log says why.' }],
      handle: async ({ params, body }) => {
        await node.setRole(params.role, body.enabled);
        return shown();
      },
    }),
  ];
}
