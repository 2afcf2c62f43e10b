/** Accounts as a directory provisions them, always those of the caller's own tenant. */
import type { Principal } from '../../../platform/http/principal.ts';
import type { StorageError, TenantScope } from '../../../platform/storage/index.ts';
import { nameKey } from '../accounts/account-name.ts';
import { newUserRow } from '../accounts/new-user-row.ts';
import type { PasswordHasher } from '../accounts/password-hasher.ts';
import { requireStrongPassword } from '../accounts/password-rules.ts';
import { ownScope, requireReach } from '../accounts/reach.ts';
import type { UserChanges, UserStore } from '../accounts/user-store.ts';
import { superadminNeeded, throwUserNotFound } from '../accounts/users.ts';
import { type AuditSource, auditEntry } from '../audit/audit-entry.ts';
import type { CredentialChange } from '../changes/credential-change.ts';
import { identityError, translateUniqueViolation } from '../errors.ts';
import type { UserRow } from '../tables.ts';
import { type ListQuery, listResources, type ResourceSource } from './list-resources.ts';
import { USER } from './resource/kinds.ts';
import { type PatchOperation, patched } from './resource/patch.ts';
import { type Resource, readResource } from './resource/resource.ts';
import type { ScimReader } from './scim-reader.ts';
import { emailOf, userChanges, userResource, writableUser } from './user-resource.ts';
import { type Conditions, requireMatch } from './versioned.ts';

export interface ScimUsersDeps {
  reader: ScimReader;
  users: UserStore;
  hasher: PasswordHasher;
  /** Credentials of an account ended or changed. */
  onCredentialsChanged(change: CredentialChange): void;
  /** The first account exists: authentication is on. */
  onFirstAccount(): void;
}

type Change = (before: Resource) => Resource;

/** Groups give other roles. */
const FIRST_ROLE = 'viewer';

export class ScimUsers {
  readonly #deps: ScimUsersDeps;

  constructor(deps: ScimUsersDeps) {
    this.#deps = deps;
  }

  list(query: ListQuery, caller: Principal): Promise<Resource> {
    return listResources(USER, this.#source(ownScope(caller)), query);
  }

  async get(id: string, caller: Principal): Promise<Resource> {
    const scope = ownScope(caller);
    return this.#resource(scope, (await this.#deps.users.find(scope, id)) ?? throwUserNotFound(id));
  }

  async create(input: Resource, source: AuditSource): Promise<Resource> {
    const scope = ownScope(source.caller);
    const resource = readResource(USER, input);
    const changes = userChanges(resource);
    const passwordHash = await this.#hash(resource['password'], changes.username);
    const base = newUserRow({
      tenant: scope.tenant,
      username: changes.username,
      email: undefined,
      role: FIRST_ROLE,
      passwordHash,
    });
    const entry = auditEntry(source, {
      action: 'user.create',
      tenant: scope.tenant,
      target: base.id,
      detail: { by: 'scim', username: changes.username, role: FIRST_ROLE },
    });
    const user = await withEmail(emailOf(resource), (email) =>
      this.#deps.users.add(scope, (isFirst) => {
        if (isFirst) throw superadminNeeded();
        return { row: { ...base, ...changes, ...email }, entry };
      }),
    );
    this.#deps.onFirstAccount();
    return this.#resource(scope, user);
  }

  /** What the resource does not say is cleared, but for `active` and the password, which stay. */
  replace(id: string, input: Resource, conditions: Conditions, source: AuditSource): Promise<Resource> {
    const given = readResource(USER, input);
    return this.#update(id, (before) => ({ active: before['active'], ...given }), conditions, source);
  }

  patch(id: string, operations: readonly PatchOperation[], conditions: Conditions, source: AuditSource): Promise<Resource> {
    return this.#update(id, (before) => patched(USER, before, operations), conditions, source);
  }

  async remove(id: string, conditions: Conditions, source: AuditSource): Promise<void> {
    const check = (before: UserRow): void => {
      requireReach(source.caller, before.role);
      requireMatch(conditions, writableUser(before));
    };
    const entry = auditEntry(source, { action: 'user.delete', target: id, detail: { by: 'scim' } });
    const isRemoved = await this.#deps.users.remove(ownScope(source.caller), id, check, entry);
    this.#deps.onCredentialsChanged({ tenant: source.caller.tenant, user: id, requestId: source.requestId });
    if (isRemoved === undefined) throwUserNotFound(id);
  }

  async #update(id: string, change: Change, conditions: Conditions, source: AuditSource): Promise<Resource> {
    const scope = ownScope(source.caller);
    const current = (await this.#deps.users.find(scope, id)) ?? throwUserNotFound(id);
    requireReach(source.caller, current.role);
    // Hashing takes long, and no transaction waits for it.
    const draft = change(writableUser(current));
    const passwordHash = await this.#hash(draft['password'], current.username);
    const apply = (before: UserRow): UserChanges => {
      requireReach(source.caller, before.role);
      const writable = writableUser(before);
      requireMatch(conditions, writable);
      const changes = userChanges(change(writable));
      return { ...changes, ...(passwordHash !== undefined && { password_hash: passwordHash }) };
    };
    const said = { by: 'scim', username: draft['userName'], active: draft['active'], password: passwordHash !== undefined };
    const entry = auditEntry(source, { action: 'user.update', target: id, detail: said });
    const hasNewEmail = emailOf(draft) !== emailOf(writableUser(current));
    const updated = await withEmail(emailOf(draft), (email) =>
      this.#deps.users.update(scope, id, (before) => ({ ...apply(before), ...(hasNewEmail && email) }), entry),
    );
    this.#deps.onCredentialsChanged({ tenant: source.caller.tenant, user: id, requestId: source.requestId });
    return this.#resource(scope, updated ?? throwUserNotFound(id));
  }

  async #hash(password: unknown, username: string): Promise<string | undefined> {
    if (typeof password !== 'string') return undefined;
    requireStrongPassword(password, username);
    return this.#deps.hasher.hash(password);
  }

  async #resource(scope: TenantScope, row: UserRow): Promise<Resource> {
    const [resource] = await this.#resources(scope, [row], true);
    return resource ?? {};
  }

  async #resources(scope: TenantScope, rows: readonly UserRow[], withGroups: boolean): Promise<Resource[]> {
    const ids = rows.map(({ id }) => id);
    const memberships = withGroups ? await this.#deps.reader.memberships(scope, 'user_id', ids) : [];
    const byUser = Map.groupBy(memberships, ({ userId }) => userId);
    return rows.map((row) =>
      userResource(
        row,
        (byUser.get(row.id) ?? []).map(({ groupId, groupName }) => ({ id: groupId, name: groupName })),
      ),
    );
  }

  #source(scope: TenantScope): ResourceSource<UserRow> {
    const { reader } = this.#deps;
    return {
      count: () => reader.count(scope, 'identity_users'),
      page: (offset, limit) => reader.page(scope, 'identity_users', offset, limit),
      after: (row, limit) => reader.after(scope, 'identity_users', row, limit),
      indexed: (wanted) => reader.indexed(scope, 'identity_users', wanted),
      resources: (rows, isWanted) => this.#resources(scope, rows, isWanted('groups')),
    };
  }
}

type EmailColumns = Pick<UserRow, 'email' | 'email_key'>;

/**
 * With the address as one that the account can be found by, else without: another account may have it, and its name may be free all the same. Throws
 * `name_taken`.
 */
async function withEmail<T>(email: string | undefined, work: (columns: EmailColumns) => Promise<T>): Promise<T> {
  const without: EmailColumns = { email: null, email_key: null };
  const taken = identityError('name_taken', 'Another account has this userName; names are unique in the installation.');
  const last = (): Promise<T> => work(without).catch((error: unknown) => translateUniqueViolation(error, taken));
  if (email === undefined) return last();
  return work({ email, email_key: nameKey(email) }).catch((error: unknown) => {
    if ((error as StorageError).code === 'unique_violation') return last();
    throw error;
  });
}
