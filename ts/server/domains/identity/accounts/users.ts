/** Accounts as administrators and their owners handle them. */
import type { Principal, Role } from '../../../platform/http/principal.ts';
import { isSystemScope, type TenantScope, tenantScope } from '../../../platform/storage/index.ts';
import { type AuditSource, auditEntry } from '../audit/audit-entry.ts';
import { newId } from '../credentials/base62.ts';
import { hashSecret, newToken } from '../credentials/secret-token.ts';
import { identityError, translateUniqueViolation } from '../errors.ts';
import type { UserRow } from '../tables.ts';
import { nameKey } from './account-name.ts';
import type { PasswordHasher } from './password-hasher.ts';
import { requireStrongPassword } from './password-rules.ts';
import { administeredScope, ownAccount, requireReach } from './reach.ts';
import { FIRST_TENANT, type Tenants, tenantNotFound } from './tenants.ts';
import type { UserBeforeChange, UserChanges, UserPage, UserStore } from './user-store.ts';

export interface NewUser {
  username: string;
  password: string | undefined;
  email: string | undefined;
  tenant: string | undefined;
  role: Role;
}

export interface UserUpdate {
  role: Role | undefined;
  disabled: boolean | undefined;
  password: string | undefined;
}

export interface UsersDeps {
  store: UserStore;
  tenants: Tenants;
  hasher: PasswordHasher;
  /** Credentials of an account ended or changed. */
  onCredentialsChanged(): void;
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
    const tenant = this.#administeredTenant(user.tenant, source.caller);
    const row = await this.#rowOf({ ...user, tenant });
    const detail = { username: row.username, role: row.role };
    return this.#add(() => ({ row, entry: auditEntry(source, { action: 'user.create', tenant, target: row.id, detail }) }), row);
  }

  /** Somebody makes an account for themselves: the first one of the installation is its superadmin. */
  async register(user: Omit<NewUser, 'role'>, source: AuditSource): Promise<UserRow> {
    if (user.tenant !== undefined && user.tenant !== FIRST_TENANT) {
      throw identityError('forbidden', `Accounts of other tenants than ${FIRST_TENANT} are made by their administrators.`);
    }
    const base = await this.#rowOf({ ...user, tenant: FIRST_TENANT, role: 'viewer' });
    return this.#add((isFirst) => {
      const row: UserRow = { ...base, role: isFirst ? 'superadmin' : 'viewer' };
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
        requireReach(source.caller, before.user.role);
        if (changes.disabled === 1 || (role !== undefined && role !== 'superadmin')) requireOtherSuperadmin(before);
        return changes;
      },
      auditEntry(source, { action: 'user.update', target: id, detail: said }),
    );
    this.#deps.onCredentialsChanged();
    return updated ?? throwUserNotFound(id);
  }

  async remove(id: string, source: AuditSource): Promise<void> {
    const check = (before: UserBeforeChange): void => {
      requireReach(source.caller, before.user.role);
      requireOtherSuperadmin(before);
    };
    const entry = auditEntry(source, { action: 'user.delete', target: id });
    const isRemoved = await this.#deps.store.remove(administeredScope(source.caller), id, check, entry);
    this.#deps.onCredentialsChanged();
    if (!isRemoved) throwUserNotFound(id);
  }

  /** A token with which the account's password can be set once. It is shown this once. */
  async issueReset(id: string, source: AuditSource): Promise<{ token: string; expiresAt: number }> {
    const user = await this.get(id, source.caller);
    requireReach(source.caller, user.role);
    const token = newToken('svcr_');
    const expiresAt = Date.now() + RESET_VALID_MS;
    const entry = auditEntry(source, { action: 'user.reset', tenant: user.tenant, target: id });
    await this.#deps.store.addReset(user, hashSecret(token), expiresAt, entry);
    return { token, expiresAt };
  }

  async usePasswordReset(token: string, password: string, source: AuditSource): Promise<void> {
    const hashed = await this.#hash(password, '');
    const user = await this.#deps.store.useReset(hashSecret(token), hashed, ({ id, tenant }) =>
      auditEntry(source, { action: 'user.password', tenant, actor: `user:${id}`, target: id, detail: { by: 'reset token' } }),
    );
    if (user === undefined) {
      throw identityError('invalid_reset_token', 'The token was used, has expired, or was never issued. Ask for a new one.');
    }
    this.#deps.onCredentialsChanged();
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

  async #rowOf({ username, password, email, tenant, role }: NewUser & { tenant: string }): Promise<UserRow> {
    const hashed = password === undefined ? null : await this.#hash(password, username);
    return {
      ...{ tenant, id: newId('usr'), username, username_key: nameKey(username) },
      ...{ email: email ?? null, email_key: email === undefined ? null : nameKey(email) },
      ...{ role, password_hash: hashed, disabled: 0, settings: '{}', created_at: Date.now(), signed_in_at: null },
    };
  }

  #hash(password: string, username: string): Promise<string> {
    requireStrongPassword(password, username);
    return this.#deps.hasher.hash(password);
  }

  /** Another tenant looks to an administrator like one that does not exist. */
  #administeredTenant(asked: string | undefined, caller: Principal): string {
    const tenant = asked ?? caller.tenant;
    const scope = administeredScope(caller);
    const isForeign = !isSystemScope(scope) && scope.tenant !== tenant;
    if (isForeign || !this.#deps.tenants.has(tenant)) throw tenantNotFound(tenant);
    return tenant;
  }
}

function scopeOf({ tenant }: UserRow): TenantScope {
  return tenantScope(tenant);
}

function requireOtherSuperadmin({ user, nOtherSuperadmins }: UserBeforeChange): void {
  if (user.role !== 'superadmin' || user.disabled === 1 || nOtherSuperadmins > 0) return;
  throw identityError('last_superadmin', 'This is the last superadmin; make another one first.');
}

export function throwUserNotFound(id: string): never {
  throw identityError('user_not_found', `There is no account ${id.slice(0, 64)}.`);
}
