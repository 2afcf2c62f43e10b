/**
 * Whose rows a store function may see. Every store function takes a `TenantScope` first, so a query without a tenant does not compile.
 * The two functions that make scopes have different names, so that each use can be found and import rules can restrict them.
 */
const tenantBrand = Symbol('TenantScope');
const systemBrand = Symbol('SystemScope');

/** The rows of one tenant. */
export interface TenantScope {
  readonly [tenantBrand]: true;
  readonly tenant: string;
}

/** The rows of all tenants: for maintenance, background workers and migrations. */
export interface SystemScope {
  readonly [systemBrand]: true;
}

export type StorageScope = TenantScope | SystemScope;

const TENANT = /^[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,127}$/;

/** Throws a RangeError for a name that is no tenant's: 1 to 128 letters, digits and `_.:@-`, beginning with a letter, digit or `_`. */
export function tenantScope(tenant: string): TenantScope {
  if (!TENANT.test(tenant))
    throw new RangeError(
      `${JSON.stringify(tenant)} is not a tenant id: use 1 to 128 letters, digits and _.:@-, beginning with a letter`,
    );
  return { [tenantBrand]: true, tenant };
}

export function systemScope(): SystemScope {
  return { [systemBrand]: true };
}

export function isSystemScope(scope: StorageScope): scope is SystemScope {
  return systemBrand in scope;
}

/** Undefined: all tenants. */
export function tenantOf(scope: StorageScope): string | undefined {
  return isSystemScope(scope) ? undefined : scope.tenant;
}
