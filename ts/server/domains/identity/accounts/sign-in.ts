/** Signing in with a name and a password, and the sessions that come of it. */
import type { Principal } from '../../../platform/http/principal.ts';
import { tenantScope } from '../../../platform/storage/index.ts';
import { type AuditSource, actorOf, auditEntry } from '../audit/audit-entry.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { CredentialChange } from '../changes/credential-change.ts';
import type { Device } from '../credentials/device-cookie.ts';
import type { SessionStore } from '../credentials/session-store.ts';
import { identityError } from '../errors.ts';
import { newId } from '../secrets/base62.ts';
import { hashSecret, newToken } from '../secrets/secret-token.ts';
import type { SessionRow, UserRow } from '../tables.ts';
import { ownAccount } from './access-check.ts';
import { nameKey } from './account-name.ts';
import type { Attempt, AttemptLimit } from './attempt-limit.ts';
import type { PasswordHasher } from './password-hasher.ts';
import type { UserStore } from './user-store.ts';

interface SignInDeps {
  users: UserStore;
  sessions: SessionStore;
  hasher: PasswordHasher;
  attempts: AttemptLimit;
  audit: AuditLog;
  sessionMaxMs: number;
  /** A session ended. */
  onCredentialsChanged(change: CredentialChange): void;
}

export interface Session {
  /** Shown once, as an answer and as a cookie. */
  token: string;
  /** Unix milliseconds. */
  expiresAt: number;
  user: UserRow;
}

/** From where somebody signs in. */
export interface SignInClient {
  source: AuditSource;
  userAgent: string;
  /** What the browser is known by. */
  devices: readonly Device[];
}

const USER_AGENT_LENGTH = 200;

export class SignIn {
  readonly #deps: SignInDeps;

  constructor(deps: SignInDeps) {
    this.#deps = deps;
  }

  /** Attempts are counted before the password is hashed. A name without an account takes as long as one with a wrong password. */
  async signIn(name: string, password: string, { source, userAgent, devices }: SignInClient): Promise<Session> {
    const { users, hasher, attempts } = this.#deps;
    const key = nameKey(name);
    const user = await users.findByName(key);
    const { attempt, counted } = await this.#count(user, key, source, devices);
    const isRight = await hasher.verify(user?.password_hash ?? undefined, password);
    if (user === undefined || !isRight) throw this.#refusal(user, source);
    if (user.disabled === 1) throw identityError('account_disabled', 'An administrator disabled this account.');
    counted.succeeded();
    attempts.know(attempt);
    return this.open(user, source, userAgent);
  }

  /** An account knows the addresses of its sessions, also after a restart. */
  async #count(user: UserRow | undefined, key: string, { remoteAddress }: AuditSource, devices: readonly Device[]) {
    const { attempts, sessions } = this.#deps;
    // Its name and its address are two ways to guess at one account.
    const device = devices.find(({ userId }) => userId === user?.id)?.id;
    const attempt: Attempt = { account: user?.id ?? `name ${key}`, remoteAddress, device };
    try {
      return { attempt, counted: attempts.count(attempt) };
    } catch (error) {
      if (user === undefined || !(await sessions.isSignedInFrom(user, remoteAddress))) throw error;
      attempts.know(attempt);
      return { attempt, counted: attempts.count(attempt) };
    }
  }

  /** A session for an account that has proved who it is. */
  async open(user: UserRow, source: AuditSource, userAgent: string): Promise<Session> {
    const token = newToken('svcs_');
    const now = Date.now();
    const expiresAt = now + this.#deps.sessionMaxMs;
    const row: SessionRow = {
      tenant: user.tenant,
      id: newId('ses'),
      hash: hashSecret(token),
      user_id: user.id,
      created_at: now,
      seen_at: now,
      expires_at: expiresAt,
      remote_address: source.remoteAddress,
      user_agent: userAgent.slice(0, USER_AGENT_LENGTH),
    };
    const said = { action: 'session.create', tenant: user.tenant, actor: `user:${user.id}`, target: row.id };
    const isOpen = await this.#deps.sessions.add(tenantScope(user.tenant), row, user.password_hash, auditEntry(source, said));
    if (!isOpen) throw this.#refusal(user, source);
    return { token, expiresAt, user };
  }

  sessions(caller: Principal): Promise<SessionRow[]> {
    const { scope, userId } = ownAccount(caller);
    return this.#deps.sessions.list(scope, userId);
  }

  /** Ends one of the caller's own sessions; undefined: all of them. */
  async end(id: string | undefined, source: AuditSource): Promise<void> {
    const { scope, userId } = ownAccount(source.caller);
    const entry = auditEntry(source, { action: 'session.end', actor: actorOf(source.caller), target: id ?? 'all' });
    const nEnded = await this.#deps.sessions.end(scope, userId, id, entry);
    this.#deps.onCredentialsChanged({ tenant: scope.tenant, user: userId, requestId: source.requestId });
    if (id !== undefined && nEnded === 0) throw identityError('session_not_found', `There is no session ${id.slice(0, 64)}.`);
  }

  #refusal(user: UserRow | undefined, source: AuditSource): Error {
    const tenant = user?.tenant ?? 'default';
    // A name without an account may be a password that was typed into the wrong field.
    const target = user?.id ?? '';
    this.#deps.audit.add(auditEntry(source, { action: 'session.create', tenant, actor: 'anonymous', target, outcome: 'denied' }));
    return identityError('invalid_credential', 'The name or the password is wrong.', {
      extra: { reason: 'wrong_name_or_password' },
    });
  }
}
