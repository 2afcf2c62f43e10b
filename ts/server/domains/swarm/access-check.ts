/** The scopes in which the module looks after goals, whosever they are. */
import { type SystemScope, systemScope, type TenantScope, tenantScope } from '../../platform/storage/index.ts';

/** A goal is worked at in the tenant that it was made in. */
export function scopeOfGoal({ tenant }: { readonly tenant: string }): TenantScope {
  return tenantScope(tenant);
}

/** Goals that wait are looked after whosever they are. */
export function everyTenant(): SystemScope {
  return systemScope();
}
