/** What a credential may be used for, and what each role brings. */
import { hasScope, type Principal, ROLES, type Role } from '../../../platform/http/principal.ts';

const OF_ROLE: Record<Role, readonly string[]> = {
  viewer: ['chat:use', 'embeddings:use', 'knowledge:read', 'models:read', 'tools:use', 'goals:use', 'iot:read', 'account:manage'],
  developer: ['knowledge:write', 'iot:write', 'comm:send'],
  admin: ['models:manage', 'cloud:write', 'tools:manage', 'identity:read', 'identity:manage', 'audit:read', 'scim', 'admin'],
  superadmin: [],
};

/** Every scope that a key can be limited to. */
export const SCOPES: readonly string[] = ROLES.flatMap((role) => OF_ROLE[role]);

/** With these one makes or changes credentials that know nothing of a capability token's limits, so no such token has them. */
const OF_CREDENTIALS: readonly string[] = ['account:manage', 'identity:manage', 'scim'];

/** Every scope that a capability token can have. */
export const CAPABILITY_SCOPES: readonly string[] = SCOPES.filter((scope) => !OF_CREDENTIALS.includes(scope));

const all = new Map(
  ROLES.map((role, rank) => [role, Object.freeze(ROLES.slice(0, rank + 1).flatMap((below) => OF_ROLE[below]))] as const),
);

/** Those of the role and of the roles below it. */
export function scopesOfRole(role: Role): readonly string[] {
  return all.get(role) ?? [];
}

/** What a credential with these scopes may do in the hands of a role: never more than the role. */
export function limitScopes(role: Role, scopes: readonly string[] | undefined): readonly string[] {
  const ofRole = scopesOfRole(role);
  return scopes === undefined ? ofRole : ofRole.filter((scope) => scopes.includes(scope));
}

/** Scopes that the caller lacks and can therefore not pass on. */
export function scopesBeyond(caller: Principal, scopes: readonly string[]): string[] {
  return scopes.filter((scope) => !hasScope(caller, scope));
}

export function rankOf(role: Role | undefined): number {
  return role === undefined ? -1 : ROLES.indexOf(role);
}
