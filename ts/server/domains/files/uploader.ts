/** Who sends a file: only the same caller can continue it. */
import { type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import { uploadError } from './errors.ts';

/** A tenant's scope, narrowed to one subject in it. */
export interface Uploader extends TenantScope {
  /** `user:` and the account's id, `key:` and the id of a key without an account, or `anonymous`. */
  readonly subject: string;
}

export function uploaderOf(caller: Principal): Uploader {
  const { subject, keyId } = caller;
  const name = subject !== undefined ? accountSubject(subject) : keyId === undefined ? 'anonymous' : `key:${keyId}`;
  return { ...scopeOf(caller), subject: name };
}

export function accountSubject(id: string): string {
  return `user:${id}`;
}

/** Throws `forbidden` when a request names another tenant than the caller's. */
export function requireOwnTenant(caller: Principal, tenant: string | undefined): void {
  if (tenant === undefined || tenant === caller.tenant) return;
  throw uploadError(
    'forbidden',
    `The request names the tenant ${JSON.stringify(tenant.slice(0, 130))}, and you may only name your own.`,
  );
}
