/** The roles of this node: which modules run here. */
import Type from 'typebox';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { ROLES } from '../../platform/module/module-names.ts';
import type { Node } from '../../platform/node/node.ts';
import { losesDocuments, RoleSwitch } from '../../platform/node/role-switch.ts';
import { named } from '../../platform/schema/named.ts';
import { systemErrors } from './errors.ts';

const RoleName = Type.Enum([...ROLES]);
const RoleState = named(
  'NodeRole',
  Type.Object({
    role: RoleName,
    enabled: Type.Boolean(),
    modules: Type.Array(Type.String(), { description: 'Modules that the role runs; empty where this program has none yet.' }),
  }),
);
const Roles = named('NodeRoles', Type.Object({ roles: Type.Array(RoleState) }));

const { get, put } = routes({ tag: 'System', auth: 'admin', errors: systemErrors });

export function roleRoutes(node: Node): Route[] {
  const shown = () => ({ roles: node.roles() });
  return [
    get('/api/v1/system/roles', {
      summary: 'Roles of this node and the modules that they run',
      answer: Roles,
      handle: shown,
    }),
    put('/api/v1/system/roles/{role}', {
      // A role is the node's: what runs in it serves all tenants, and one of its modules enforces the roles of all.
      auth: 'superadmin',
      maxBody: 1024,
      summary: 'Switch a role on or off, at once and for later starts',
      description: 'Routes of a module that is off answer 503 `module_unavailable`.',
      params: Type.Object({ role: RoleName }),
      body: RoleSwitch,
      answer: Roles,
      errors: ['data_role_holds_data', 'internal'],
      handle: async ({ params, body }) => {
        if (await losesDocuments(node, params.role, body))
          throw systemErrors.error(
            'data_role_holds_data',
            'This node has knowledge bases, which nobody would find without the role.',
          );
        await node.setRole(params.role, body.enabled);
        return shown();
      },
    }),
  ];
}
