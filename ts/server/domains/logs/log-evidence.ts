/** Lines for chats: an administrator's question is answered from those that the caller may read, and each such read is audited. */
import type { Principal } from '../../platform/http/principal.ts';
import { hasRole, hasScope } from '../../platform/http/principal.ts';
import { type AuditSource, auditEntry, type IdentityApi } from '../identity/index.ts';
import type { Collection } from './collection/collection.ts';
import { logsError } from './errors.ts';
import { type Evidence, findEvidence } from './index/evidence.ts';
import type { LogIndex } from './index/log-index.ts';
import { classesOf, isArchived, rangeOf, sendersOf } from './search-routes.ts';

export interface EvidenceBounds {
  /** ISO 8601, or `-15m`. */
  readonly from: string;
  readonly to: string;
  /** One or more, with commas. */
  readonly class?: string | undefined;
}

export interface LogsApi {
  /** Throws DomainError: `forbidden`, `invalid_request`, `rsyslog_not_configured` or `logs_unavailable`. */
  evidence(
    source: AuditSource,
    question: string,
    bounds: EvidenceBounds,
    signal: AbortSignal,
  ): Promise<Evidence & { readonly isArchived: boolean }>;
}

interface LogEvidenceDeps {
  collection: Pick<Collection, 'reading'>;
  index: Pick<LogIndex, 'search'>;
  recordAct: IdentityApi['recordAct'];
  now(): number;
}

const TIME_LIMIT_MS = 2_000;

export class LogEvidence implements LogsApi {
  readonly #deps: LogEvidenceDeps;

  constructor(deps: LogEvidenceDeps) {
    this.#deps = deps;
  }

  async evidence(source: AuditSource, question: string, bounds: EvidenceBounds, signal: AbortSignal) {
    const { collection, index, recordAct, now } = this.#deps;
    requireAdministrator(source.caller);
    const senders = sendersOf(source.caller, collection);
    const range = { ...rangeOf(bounds, now()), classes: classesOf(bounds), senders, timeLimitMs: TIME_LIMIT_MS };
    await recordAct(auditEntry(source, { action: 'logs.chat', detail: { ...bounds } }));
    const evidence = await findEvidence(question, (q, severity, limit) =>
      index.search(q, { severity }, { ...range, limit, order: 'desc', cursor: undefined, nBuckets: 0 }, signal),
    );
    return { ...evidence, isArchived: isArchived(bounds) };
  }
}

/** A route of chats is not that of administrators: without a credential nobody knows that the caller sits at the machine. */
function requireAdministrator(caller: Principal): void {
  if (caller.kind !== 'anonymous' && hasRole(caller, 'admin') && hasScope(caller, 'admin')) return;
  throw logsError('forbidden', '`logs` needs the credential of an administrator, with the scope admin.', {
    extra: { role: 'admin' },
  });
}
