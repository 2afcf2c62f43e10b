/** Whose conversations a caller sees. */
import { type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { TenantScope } from '../../platform/storage/index.ts';

/** A tenant's scope, narrowed to one subject in it. Every store function takes one first. */
export interface Owner extends TenantScope {
  /** `user:` and the account's id, `key:` and the id of a key that belongs to no account, or `anonymous`. */
  readonly subject: string;
}

/**
 * The account of a session or key; for a key without an account, the key. All callers without either are one subject of their tenant: while
 * authentication is off, everyone who reaches the node shares these conversations.
 */
export function ownerOf(caller: Principal): Owner {
  return { ...scopeOf(caller), subject: subjectKey(caller) };
}

export function accountSubject(id: string): string {
  return `user:${id}`;
}

/** The prefixes keep an account from being named like a key or like the anonymous caller. */
function subjectKey({ subject, keyId }: Principal): string {
  if (subject !== undefined) return accountSubject(subject);
  return keyId === undefined ? 'anonymous' : `key:${keyId}`;
}
