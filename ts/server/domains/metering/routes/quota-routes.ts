/** Quotas of tenants, users and keys. */
import Type from 'typebox';
import type { RequestContext, Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import type { TenantRules } from '../../../platform/module/tenant-rules.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { seesAllTenants, visibleScope, visibleTenant } from '../access-check.ts';
import { meteringError, meteringErrors } from '../errors.ts';
import type { MonthLoader, SubjectRegistry } from '../limits/subject-registry.ts';
import type { Quota } from '../quotas/quota.ts';
import type { Quotas } from '../quotas/quotas.ts';
import { QuotaChange, QuotaShape, quotaBody } from '../schemas.ts';

interface QuotaRouteDeps {
  quotas: Quotas;
  registry: SubjectRegistry;
  months: MonthLoader;
  tenants: Pick<TenantRules, 'exists'>;
  now(): number;
}

const path = '/api/v1/metering/quotas';

type Change = RequestContext<unknown, unknown, Type.Static<typeof QuotaChange>>;

const { get, put } = routes({ tag: 'Metering', auth: 'admin', errors: meteringErrors });

export function quotaRoutes(deps: QuotaRouteDeps): Route[] {
  return [
    get(path, {
      summary: 'Quotas of the tenant, its users and keys, for a superadmin of all tenants, and what is used of them',
      answer: Type.Object({ data: Type.Array(QuotaShape) }),
      handle: async ({ caller }) => {
        const quotas = await deps.quotas.list(visibleScope(caller));
        return { data: await Promise.all(quotas.map((quota) => shown(deps, quota))) };
      },
    }),
    put(path, {
      summary: 'Set the quotas of a tenant, or of one of its users or keys',
      description:
        'Limits that are not named stay; null removes one. A minute is any 60 seconds, a month one of the calendar in UTC. Tokens are those of ' +
        'prompt and completion together. Only a superadmin sets the quotas of a tenant itself.',
      body: QuotaChange,
      answer: QuotaShape,
      errors: ['invalid_request', 'forbidden', 'tenant_not_found'],
      handle: async (context) => await shown(deps, await change(deps, context)),
    }),
  ];
}

async function change({ quotas, tenants }: QuotaRouteDeps, { caller, body }: Change): Promise<Quota> {
  const { tenant = caller.tenant, user, key, ...limits } = body;
  if (user !== undefined && key !== undefined) {
    throw meteringError('invalid_request', 'A quota is of a user or of a key, not of both.', { param: 'key' });
  }
  // After the rights: who may not set it is not told whether it is there.
  const scope = reachable(caller, tenant, user === undefined && key === undefined);
  if (!(await tenants.exists(tenant)))
    throw meteringError('tenant_not_found', `There is no tenant ${tenant}; GET /api/v1/identity/tenants lists them.`);
  if (user !== undefined) return quotas.update(scope, 'user', user, limits);
  return key === undefined ? quotas.update(scope, 'tenant', tenant, limits) : quotas.update(scope, 'key', key, limits);
}

function reachable(caller: Change['caller'], tenant: string, isOfTenant: boolean): TenantScope {
  const scope = visibleTenant(caller, tenant);
  if (scope !== undefined && (!isOfTenant || seesAllTenants(caller))) return scope;
  throw meteringError('forbidden', 'Only a superadmin sets the quotas of a tenant, or those within another tenant.');
}

async function shown({ registry, months, now }: QuotaRouteDeps, quota: Quota) {
  const found = registry.find(quota.tenant, quota.kind, quota.subject);
  if (found !== undefined) await months.load([found], now());
  return quotaBody(quota, found, now());
}
