/** Whose decisions a caller sees, and the scope in which the module works for every tenant. */
import { hasRole, type Principal, scopeOf } from '../../platform/http/principal.ts';
import { type StorageScope, type SystemScope, systemScope } from '../../platform/storage/index.ts';

/** Decisions of all tenants are written together, and modes belong to nobody. */
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
