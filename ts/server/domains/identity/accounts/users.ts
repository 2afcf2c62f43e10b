/** Accounts as administrators and their owners handle them. */
import type { Principal, Role } from '../../../platform/http/principal.ts';
import { type TenantScope, tenantScope } from '../../../platform/storage/index.ts';
import { type AuditEntry, type AuditSource, auditEntry } from '../audit/audit-entry.ts';
import type { CredentialChange } from '../changes/credential-change.ts';
import { identityError, translateUniqueViolation } from '../errors.ts';
import { hashSecret, newToken } from '../secrets/secret-token.ts';
import type { UserRow } from '../tables.ts';
import { administeredScope, ownAccount, requireReach } from './access-check.ts';
import { newUserRow } from './new-user-row.ts';
import type { PasswordHasher } from './password-hasher.ts';
import { requireStrongPassword } from './password-rules.ts';
import { FIRST_TENANT, type Tenants } from './tenants.ts';
import type { UserChanges, UserPage, UserStore } from './user-store.ts';

interface NewUser {
  username: string;
  password: string | undefined;
  email: string | undefined;
  tenant: string | undefined;
  role: Role;
  /** A program's account, which never signs in with a password. */
  isService: boolean;
}

interface UserUpdate {
  role: Role | undefined;
  disabled: boolean | undefined;
  password: string | undefined;
}

interface UsersDeps {
  store: UserStore;
  tenants: Tenants;
  hasher: PasswordHasher;
  /** Credentials of an account ended or changed. */
  onCredentialsChanged(change: CredentialChange): void;
  /** The first account exists: authentication is on. */
  onFirstAccount(): void;
}

const RESET_VALID_MS = 60 * 60 * 1000;

export class Users {
  readonly #deps: UsersDeps;

  constructor(deps: UsersDeps) {
    this.#deps = deps;
  }

  /** An administrator makes an account; the first one of the installation switches authentication on. */
  async create(user: NewUser, source: AuditSource): Promise<UserRow> {
    requireReach(source.caller, user.role);
    if (user.isService && user.password !== undefined) throw passwordOfService();
    const tenant = await this.#deps.tenants.administered(user.tenant, source.caller);
    const row = await this.#rowOf({ ...user, tenant });
    const detail = { username: row.username, role: row.role, service: user.isService };
    return this.#add((isFirst) => {
      if (isFirst && (row.role !== 'superadmin' || row.password_hash === null)) throw superadminNeeded();
      return { row, entry: auditEntry(source, { action: 'user.create', tenant, target: row.id, detail }) };
    }, row);
  }

  /** Somebody makes an account for themselves: the first one of the installation is its superadmin. */
  async register(user: Omit<NewUser, 'role' | 'isService'>, source: AuditSource): Promise<UserRow> {
    if (user.tenant !== undefined && user.tenant !== FIRST_TENANT) {
      throw identityError('forbidden', `Accounts of other tenants than ${FIRST_TENANT} are made by their administrators.`);
    }
    const base = await this.#rowOf({ ...user, tenant: FIRST_TENANT, role: 'viewer', isService: false });
    return this.#add((isFirst) => {
      const role = isFirst ? 'superadmin' : 'viewer';
      const row: UserRow = { ...base, role, assigned_role: role };
      const said = { action: 'user.register', tenant: row.tenant, actor: `user:${row.id}`, target: row.id };
      return { row, entry: auditEntry(source, { ...said, detail: { username: row.username, role: row.role } }) };
    }, base);
  }

  list(page: UserPage, caller: Principal): Promise<UserRow[]> {
    return this.#deps.store.list(administeredScope(caller), page);
  }

  /** Throws `user_not_found` for an account of another tenant, as for one that does not exist. */
  async get(id: string, caller: Principal): Promise<UserRow> {
    return (await this.#deps.store.find(administeredScope(caller), id)) ?? throwUserNotFound(id);
  }

  async update(id: string, update: UserUpdate, source: AuditSource): Promise<UserRow> {
    const { role, disabled, password } = update;
    if (role !== undefined) requireReach(source.caller, role);
    const current = await this.get(id, source.caller);
    requireReach(source.caller, current.role);
    if (password !== undefined) requirePerson(current);
    const changes: UserChanges = {
      ...(role !== undefined && { role }),
      ...(disabled !== undefined && { disabled: disabled ? 1 : 0 }),
      ...(password !== undefined && { password_hash: await this.#hash(password, current.username) }),
    };
    const said = {
      ...(role !== undefined && { role }),
      ...(disabled !== undefined && { disabled }),
      password: password !== undefined,
    };
    const updated = await this.#deps.store.update(
      administeredScope(source.caller),
      id,
      (before) => {
        requireReach(source.caller, before.role);
        return changes;
      },
      auditEntry(source, { action: 'user.update', target: id, detail: said }),
    );
    if (updated === undefined) return throwUserNotFound(id);
    this.#deps.onCredentialsChanged({ tenant: updated.tenant, user: id, requestId: source.requestId });
    return updated;
  }

  async remove(id: string, source: AuditSource): Promise<void> {
    const check = (before: UserRow): void => requireReach(source.caller, before.role);
    const entry = auditEntry(source, { action: 'user.delete', target: id });
    const removed = await this.#deps.store.remove(administeredScope(source.caller), id, check, entry);
    if (removed === undefined) return throwUserNotFound(id);
    this.#deps.onCredentialsChanged({ tenant: removed.tenant, user: id, requestId: source.requestId });
  }

  /** A token with which the account's password can be set once. It is shown this once. */
  async issueReset(id: string, source: AuditSource): Promise<{ token: string; expiresAt: number }> {
    const user = await this.get(id, source.caller);
    requireReach(source.caller, user.role);
    requirePerson(user);
    return this.#addReset(user, auditEntry(source, { action: 'user.reset', tenant: user.tenant, target: id }));
  }

  /** For the owner of the account, who asked for it without a credential: it goes to the account's own address. */
  async issueOwnReset(user: UserRow, source: AuditSource): Promise<{ token: string; expiresAt: number }> {
    const { id, tenant } = user;
    const said = { action: 'user.reset', tenant, actor: 'anonymous', target: id, detail: { by: 'e-mail' } };
    return this.#addReset(user, auditEntry(source, said));
  }

  async usePasswordReset(token: string, password: string, source: AuditSource): Promise<void> {
    const hashed = await this.#hash(password, '');
    const user = await this.#deps.store.useReset(hashSecret(token), hashed, ({ id, tenant }) =>
      auditEntry(source, { action: 'user.password', tenant, actor: `user:${id}`, target: id, detail: { by: 'reset token' } }),
    );
    if (user === undefined) {
      throw identityError('invalid_reset_token', 'The token was used, has expired, or was never issued. Ask for a new one.');
    }
    this.#deps.onCredentialsChanged({ tenant: user.tenant, user: user.id, requestId: source.requestId });
  }

  async #addReset(user: UserRow, entry: AuditEntry): Promise<{ token: string; expiresAt: number }> {
    const token = newToken('svcr_');
    const expiresAt = Date.now() + RESET_VALID_MS;
    await this.#deps.store.addReset(user, hashSecret(token), expiresAt, entry);
    return { token, expiresAt };
  }

  async settings(caller: Principal): Promise<unknown> {
    const { scope, userId } = ownAccount(caller);
    const user = (await this.#deps.store.find(scope, userId)) ?? throwUserNotFound(userId);
    return JSON.parse(user.settings) as unknown;
  }

  async writeSettings(caller: Principal, settings: object): Promise<void> {
    const { scope, userId } = ownAccount(caller);
    await this.#deps.store.writeSettings(scope, userId, JSON.stringify(settings));
  }

  async #add(decide: Parameters<UserStore['add']>[1], base: UserRow): Promise<UserRow> {
    const taken = identityError('name_taken', 'Another account has this name or this address; choose another.');
    const row = await this.#deps.store
      .add(scopeOf(base), decide)
      .catch((error: unknown) => translateUniqueViolation(error, taken));
    this.#deps.onFirstAccount();
    return row;
  }

  async #rowOf({ username, password, email, tenant, role, isService }: NewUser & { tenant: string }): Promise<UserRow> {
    const passwordHash = password === undefined ? undefined : await this.#hash(password, username);
    return { ...newUserRow({ tenant, username, email, role, passwordHash }), service: isService ? 1 : 0 };
  }

  #hash(password: string, username: string): Promise<string> {
    requireStrongPassword(password, username);
    return this.#deps.hasher.hash(password);
  }
}

function scopeOf({ tenant }: UserRow): TenantScope {
  return tenantScope(tenant);
}

/** The first account switches authentication on for good, and then somebody must be able to administer the installation. */
export function superadminNeeded(): Error {
  const detail =
    'The first account must be a superadmin who can sign in: register at /login, or use `svc admin create NAME`. Then make the others.';
  return identityError('superadmin_needed', detail);
}

function requirePerson({ service }: UserRow): void {
  if (service === 1) throw passwordOfService();
}

function passwordOfService(): Error {
  return identityError('service_account', 'A service account signs in with no password; make it an API key.');
}

export function throwUserNotFound(id: string): never {
  throw identityError('user_not_found', `There is no account ${id.slice(0, 64)}.`);
}
