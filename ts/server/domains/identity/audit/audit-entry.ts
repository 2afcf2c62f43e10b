/** One line of the audit log: who did what to what, from where, and how it ended. */
import type { Principal } from '../../../platform/http/principal.ts';
import type { RequestContext } from '../../../platform/http/route.ts';

export type AuditOutcome = 'done' | 'denied' | 'failed';

export interface AuditEntry {
  at: number;
  tenant: string;
  /** `user:usr_...`, `key:key_...` or the kind of a caller without an account. */
  actor: string;
  /** For example `user.create`, or method and path of an administrative request. */
  action: string;
  /** Id of what it was done to; empty where there is none. */
  target: string;
  outcome: AuditOutcome;
  /** Never holds a secret. */
  detail: Readonly<Record<string, unknown>>;
  remoteAddress: string;
  requestId: string;
}

/** Who asks, from where: what all entries of one request have in common. */
export interface AuditSource {
  caller: Principal;
  remoteAddress: string;
  requestId: string;
}

type Said = Pick<AuditEntry, 'action'> & Partial<Pick<AuditEntry, 'tenant' | 'actor' | 'target' | 'outcome' | 'detail'>>;

export function auditSource({ caller, remoteAddress, requestId }: RequestContext): AuditSource {
  return { caller, remoteAddress, requestId };
}

export function auditEntry({ caller, remoteAddress, requestId }: AuditSource, said: Said): AuditEntry {
  const shared = { at: Date.now(), tenant: caller.tenant, actor: actorOf(caller), remoteAddress, requestId };
  return { ...shared, target: '', outcome: 'done', detail: {}, ...said };
}

/** A key is named beside its account, since an account has several. */
export function actorOf({ subject, kind, keyId }: Principal): string {
  if (subject === undefined) return keyId ?? kind;
  return keyId === undefined ? `user:${subject}` : `user:${subject} ${kind}:${keyId}`;
}
