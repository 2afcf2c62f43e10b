/** How role enforcement is switched, and what it denied or would deny. */
import Type from 'typebox';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import type { TenantRules } from '../../platform/module/tenant-rules.ts';
import { seesAllTenants, visibleScope } from './access-check.ts';
import type { Decisions } from './decisions.ts';
import type { Enforcement } from './enforcement.ts';
import { securityError, securityErrors } from './errors.ts';
import { Decision, decisionBody, EnforcementChange, EnforcementShape, enforcementBody } from './schemas.ts';

interface SecurityRouteDeps {
  enforcement: Enforcement;
  decisions: Decisions;
  tenants: Pick<TenantRules, 'exists'>;
}

const path = '/api/v1/security/enforcement';
const DEFAULT_LIMIT = 100;

const { get, put } = routes({ tag: 'Security', auth: 'admin', errors: securityErrors });

export function securityRoutes(deps: SecurityRouteDeps): Route[] {
  const { enforcement, decisions, tenants } = deps;
  return [
    get(path, {
      summary: 'The mode of role enforcement on this node, and of tenants that have their own',
      answer: EnforcementShape,
      handle: ({ caller }) => enforcementBody(enforcement, seesAllTenants(caller) ? undefined : caller.tenant),
    }),
    put(path, {
      auth: 'superadmin',
      maxBody: 1024,
      summary: 'Switch role enforcement: stub_allow, audit or enforce',
      description:
        'Of this node, or with `tenant` of one tenant on every node, which goes before that of the node. `audit` lets calls pass and lists those that ' +
        '`enforce` would deny.',
      body: EnforcementChange,
      answer: EnforcementShape,
      errors: ['invalid_request', 'tenant_not_found'],
      handle: async ({ body: { mode, tenant } }) => {
        if (tenant !== undefined && !(await tenants.exists(tenant)))
          throw securityError('tenant_not_found', `There is no tenant ${tenant}; GET /api/v1/identity/tenants lists them.`);
        if (tenant !== undefined) await enforcement.setTenant(tenant, mode ?? undefined);
        else if (mode !== null) await enforcement.setNode(mode);
        else throw securityError('invalid_request', 'A node has a mode; null is for tenants.', { param: 'mode' });
        return enforcementBody(enforcement, undefined);
      },
    }),
    decisionsRoute(decisions),
  ];
}

function decisionsRoute(decisions: Decisions): Route {
  return get('/api/v1/security/decisions', {
    scope: 'audit:read',
    summary: 'Tool calls that role enforcement denied, or would deny, newest first',
    description: 'Of the tenant, for a superadmin of all tenants. They are kept for 30 days.',
    query: Type.Object({
      after: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 53 - 1, description: '`next` of the page before.' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    }),
    answer: Type.Object({ data: Type.Array(Decision), next: Type.Optional(Type.Integer()) }),
    handle: async ({ caller, query: { after, limit = DEFAULT_LIMIT } }) => {
      const rows = await decisions.list(visibleScope(caller), { after, limit: limit + 1 });
      const shown = rows.slice(0, limit);
      const next = rows.length > limit ? shown.at(-1)?.seq : undefined;
      return { data: shown.map(decisionBody), ...(next !== undefined && { next }) };
    },
  });
}
