/** Sessions of other accounts, for those who administer them. */
import type { Principal } from '../../../platform/http/principal.ts';
import { tenantScope } from '../../../platform/storage/index.ts';
import { type AuditSource, auditEntry } from '../audit/audit-entry.ts';
import type { CredentialChange } from '../changes/credential-change.ts';
import type { SessionStore } from '../credentials/session-store.ts';
import { identityError } from '../errors.ts';
import type { SessionRow, UserRow } from '../tables.ts';
import { requireReach } from './access-check.ts';
import type { Users } from './users.ts';

interface AccountSessionsDeps {
  users: Pick<Users, 'get'>;
  sessions: Pick<SessionStore, 'list' | 'end'>;
  /** Sessions of an account ended. */
  onCredentialsChanged(change: CredentialChange): void;
}

export class AccountSessions {
  readonly #deps: AccountSessionsDeps;

  constructor(deps: AccountSessionsDeps) {
    this.#deps = deps;
  }

  /** The last used first. Throws `user_not_found`, and `forbidden` for an account with a higher role. */
  async list(userId: string, caller: Principal): Promise<SessionRow[]> {
    const { tenant, id } = await this.#reach(userId, caller);
    return this.#deps.sessions.list(tenantScope(tenant), id);
  }

  /** One session; undefined: all of them. Throws `user_not_found`, `forbidden`, `session_not_found`. */
  async end(userId: string, sessionId: string | undefined, source: AuditSource): Promise<void> {
    const { tenant, id: user } = await this.#reach(userId, source.caller);
    const said = { action: 'session.end', tenant, target: sessionId ?? 'all', detail: { user } };
    const nEnded = await this.#deps.sessions.end(tenantScope(tenant), user, sessionId, auditEntry(source, said));
    this.#deps.onCredentialsChanged({ tenant, user, requestId: source.requestId });
    if (sessionId !== undefined && nEnded === 0)
      throw identityError('session_not_found', `There is no session ${sessionId.slice(0, 64)}.`);
  }

  async #reach(userId: string, caller: Principal): Promise<UserRow> {
    const user = await this.#deps.users.get(userId, caller);
    requireReach(caller, user.role);
    return user;
  }
}
