/** Whose usage and quotas a caller sees, and the scope in which the module counts for every tenant. */
import { hasRole, type Principal, scopeOf } from '../../platform/http/principal.ts';
import { type StorageScope, type SystemScope, systemScope, type TenantScope, tenantScope } from '../../platform/storage/index.ts';

/** Usage of all tenants is written together, and counted against the quotas of each. */
export function everyTenant(): SystemScope {
  return systemScope();
}

/** A caller that no credential was asked of, on a node without accounts, is the operator at the machine. */
export function seesAllTenants(caller: Principal): boolean {
  return caller.kind === 'anonymous' || hasRole(caller, 'superadmin');
}

export function visibleScope(caller: Principal): StorageScope {
  return seesAllTenants(caller) ? systemScope() : scopeOf(caller);
}

/** One tenant of those that the caller sees; undefined: it sees it not. */
export function visibleTenant(caller: Principal, tenant: string): TenantScope | undefined {
  return seesAllTenants(caller) || tenant === caller.tenant ? tenantScope(tenant) : undefined;
}

/** For what metering itself tells a tenant. */
export function eachTenant(tenant: string): TenantScope {
  return tenantScope(tenant);
}
