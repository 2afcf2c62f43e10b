/** The caller, as the authenticator resolved it from a credential. */
import { type TenantScope, tenantScope } from '../storage/index.ts';

/** The roles from least to most: each may do what the ones before it may. */
export const ROLES = ['viewer', 'developer', 'admin', 'superadmin'] as const;

export type Role = (typeof ROLES)[number];

export interface Principal {
  tenant: string;
  /** The account's id; undefined for the anonymous caller, and for keys that belong to no account. */
  subject: string | undefined;
  /** The kind of credential that was presented. `node`: another node of the cluster. */
  kind: 'anonymous' | 'key' | 'session' | 'capability' | 'token' | 'node';
  roles: readonly Role[];
  /** The uses of the credential; `*` stands for everything. */
  scopes: readonly string[];
  /** Id of the key or token, for the audit log and revocation; never the secret itself. */
  keyId: string | undefined;
  /** By the kind of things, the only names that the credential may use; a kind that is absent: any. */
  limits?: Readonly<Record<string, readonly string[]>>;
  /** Ids of a capability token and those that it was derived from: one that is revoked ends it. */
  revocationIds?: readonly string[];
  /** When the credential ends by itself, Unix milliseconds; absent: never, or nobody knows. */
  expiresAt?: number;
}

export const ANONYMOUS: Principal = Object.freeze({
  tenant: 'default',
  subject: undefined,
  kind: 'anonymous',
  roles: Object.freeze([]),
  scopes: Object.freeze([]),
  keyId: undefined,
});

/** Returns the scope of the rows that the caller may see: the first argument of every store function. */
export function scopeOf({ tenant }: Principal): TenantScope {
  return tenantScope(tenant);
}

export function hasRole(principal: Principal, least: Role): boolean {
  const rank = ROLES.indexOf(least);
  return principal.roles.some((role) => ROLES.indexOf(role) >= rank);
}

export function hasScope(principal: Principal, scope: string): boolean {
  return principal.scopes.includes(scope) || principal.scopes.includes('*');
}
