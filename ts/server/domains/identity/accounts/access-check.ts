/** How far a caller reaches: whose rows, and which roles. */
import { hasRole, type Principal, ROLES, type Role } from '../../../platform/http/principal.ts';
import { type StorageScope, systemScope, type TenantScope, tenantScope } from '../../../platform/storage/index.ts';
import { identityError } from '../errors.ts';
import { rankOf } from './scopes.ts';

/**
 * Whom a caller administers: a superadmin all tenants, everybody else their own. A caller that no credential was asked of, on a node without
 * accounts, is the operator at the machine.
 */
export function administeredScope(caller: Principal): StorageScope {
  return isOperator(caller) || hasRole(caller, 'superadmin') ? systemScope() : tenantScope(caller.tenant);
}

function isOperator(caller: Principal): boolean {
  return caller.kind === 'anonymous';
}

export function ownScope(caller: Principal): TenantScope {
  return tenantScope(caller.tenant);
}

/** The account of the caller. Throws `no_account` for a caller without one. */
export function ownAccount(caller: Principal): { scope: TenantScope; userId: string } {
  if (caller.subject !== undefined) return { scope: ownScope(caller), userId: caller.subject };
  throw identityError('no_account', 'The caller belongs to no account. Sign in, or use an API key of an account.');
}

/** Nobody gives a role above their own, or changes an account that has one. Throws `forbidden`. */
export function requireReach(caller: Principal, role: Role): void {
  if (isOperator(caller) || rankOf(role) <= rankOf(highestRole(caller))) return;
  throw identityError('forbidden', `Only an account with the role ${role} or a higher one may do this.`, { extra: { role } });
}

function highestRole({ roles }: Principal): Role | undefined {
  return ROLES.findLast((role) => roles.includes(role));
}
