/** A credential that was looked up and found good: whom it stands for, and until when. */
import type { Principal } from '../../../platform/http/principal.ts';
import { limitScopes } from '../accounts/scopes.ts';
import type { ApiKeyRow, SessionRow } from '../tables.ts';
import type { Found, Owner } from './credential-store.ts';
import type { RefusalReason } from './refused-credential.ts';

export interface ResolvedCredential {
  readonly principal: Principal;
  readonly id: string;
  readonly kind: 'key' | 'session' | 'capability';
  /** Unix milliseconds; Infinity: never. */
  readonly expiresAt: number;
  /** A session ends when it is not used for so long. */
  readonly idleMs: number;
  /** When it was looked up. */
  readonly loadedAt: number;
  /** When it was last used. */
  usedAt: number;
  /** The use that the database knows, or will soon. */
  notedAt: number;
}

export type Resolution = ResolvedCredential | RefusalReason;

export function resolveKey(found: Found<ApiKeyRow> | undefined, now: number): Resolution {
  if (found === undefined) return 'api_key_unknown';
  const { row, owner } = found;
  if (row.revoked_at !== null || owner === undefined || owner.disabled === 1) return 'api_key_revoked';
  const expiresAt = row.expires_at ?? Number.POSITIVE_INFINITY;
  if (expiresAt <= now) return 'expired';
  const scopes = row.scopes === null ? undefined : (JSON.parse(row.scopes) as string[]);
  return resolved('key', row, owner, { scopes, expiresAt, idleMs: Number.POSITIVE_INFINITY, notedAt: row.used_at ?? 0, now });
}

/** An ended session leaves no row; its token was issued once and is over. */
export function resolveSession(found: Found<SessionRow> | undefined, idleMs: number, now: number): Resolution {
  const isLive = found !== undefined && found.row.expires_at > now && found.row.seen_at + idleMs > now;
  if (!isLive || found.owner === undefined || found.owner.disabled === 1) return 'expired';
  const { row, owner } = found;
  return resolved('session', row, owner, { scopes: undefined, expiresAt: row.expires_at, idleMs, notedAt: row.seen_at, now });
}

interface Validity {
  scopes: readonly string[] | undefined;
  limits?: Principal['limits'] | undefined;
  revocationIds?: readonly string[];
  expiresAt: number;
  idleMs: number;
  notedAt: number;
  now: number;
}

/** What a credential brings never exceeds the role that its account has now. */
export function resolved(
  kind: ResolvedCredential['kind'],
  { id, user_id }: { id: string; user_id: string },
  owner: Owner,
  { scopes, limits, revocationIds, expiresAt, idleMs, notedAt, now }: Validity,
): ResolvedCredential {
  const principal: Principal = Object.freeze({
    tenant: owner.tenant,
    subject: user_id,
    kind,
    roles: Object.freeze([owner.role]),
    scopes: Object.freeze([...limitScopes(owner.role, scopes)]),
    keyId: id,
    ...(limits !== undefined && { limits: Object.freeze(limits) }),
    ...(revocationIds !== undefined && { revocationIds }),
    ...(Number.isFinite(expiresAt) && { expiresAt }),
  });
  return { principal, id, kind, expiresAt, idleMs, loadedAt: now, usedAt: now, notedAt };
}
