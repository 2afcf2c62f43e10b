/** Whose conversations a caller sees: the one place of this module that makes scopes. */
import type { Principal } from '../../platform/http/principal.ts';
import { type SystemScope, systemScope, type TenantScope, tenantScope } from '../../platform/storage/index.ts';

/** A tenant's scope, narrowed to one subject in it. Every store function takes one first. */
export interface Owner extends TenantScope {
  /** `user:` and the account's id, `key:` and the id of a key that belongs to no account, or `anonymous`. */
  readonly subject: string;
}

/**
 * The account of a session or key; for a key without an account, the key. All callers without either are one subject of their tenant: while
 * authentication is off, everyone who reaches the node shares these conversations.
 */
export function ownerOf({ tenant, subject, keyId }: Pick<Principal, 'tenant' | 'subject' | 'keyId'>): Owner {
  return { ...tenantScope(tenant), subject: subjectKey(subject, keyId) };
}

/** For the removal of what was erased or has expired, which is every tenant's. */
export function sweepScope(): SystemScope {
  return systemScope();
}

/** The prefixes keep an account from being named like a key or like the anonymous caller. */
function subjectKey(subject: string | undefined, keyId: string | undefined): string {
  if (subject !== undefined) return `user:${subject}`;
  return keyId === undefined ? 'anonymous' : `key:${keyId}`;
}
