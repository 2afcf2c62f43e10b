/** Writes administrative requests of all modules, and denials, into the audit log. */
import type { AccessRecord, AccessRecorder } from '../../../platform/http/access-recorder.ts';
import { type AuditOutcome, auditEntry } from './audit-entry.ts';
import type { AuditLog } from './audit-log.ts';

const PATH_LENGTH = 200;
const OWN_PATHS = ['/api/v1/identity/', '/scim/v2/'];

export class RequestAudit implements AccessRecorder {
  readonly #audit: AuditLog;

  constructor(audit: AuditLog) {
    this.#audit = audit;
  }

  record({ caller, method, path, status, remoteAddress, requestId }: AccessRecord): void {
    const outcome = outcomeOf(status);
    // What identity did itself stands in the log already, written together with what it changed.
    if (outcome === 'done' && OWN_PATHS.some((own) => path.startsWith(own))) return;
    const action = `${method} ${path.slice(0, PATH_LENGTH)}`;
    this.#audit.add(auditEntry({ caller, remoteAddress, requestId }, { action, outcome, detail: { status } }));
  }
}

function outcomeOf(status: number): AuditOutcome {
  if (status === 401 || status === 403) return 'denied';
  return status >= 200 && status < 400 ? 'done' : 'failed';
}
