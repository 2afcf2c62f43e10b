/** Accounts as a directory provisions them, always those of the caller's own tenant. */
import type { Principal } from '../../../platform/http/principal.ts';
import type { StorageError } from '../../../platform/storage/index.ts';
import { ownScope, requireReach } from '../accounts/access-check.ts';
import { isExternalUsername, nameKey } from '../accounts/account-name.ts';
import { newUserRow } from '../accounts/new-user-row.ts';
import type { PasswordHasher } from '../accounts/password-hasher.ts';
import { requireStrongPassword } from '../accounts/password-rules.ts';
import type { UserStore } from '../accounts/user-store.ts';
import { superadminNeeded, throwUserNotFound } from '../accounts/users.ts';
import { type AuditSource, auditEntry } from '../audit/audit-entry.ts';
import type { CredentialChange } from '../changes/credential-change.ts';
import { identityError, translateUniqueViolation } from '../errors.ts';
import type { UserRow } from '../tables.ts';
import type { DirectoryReader, DirectoryRows, Membership } from './directory-reader.ts';

interface ProvisionedUsersDeps {
  reader: DirectoryReader;
  users: UserStore;
  hasher: PasswordHasher;
  /** Credentials of an account ended or changed. */
  onCredentialsChanged(change: CredentialChange): void;
  /** The first account exists: authentication is on. */
  onFirstAccount(): void;
}

/** What a directory says of a person. */
export interface UserDraft {
  username: string;
  /** A JSON object in the directory's own words. */
  profile: string;
  externalId: string | null;
  isDisabled: boolean;
  email: string | undefined;
  /** Undefined: it stays as it is. */
  password: string | undefined;
}

export interface UserUpdate extends UserDraft {
  /** The directory's address of the account is another one than before. */
  hasNewEmail: boolean;
}

/** Groups give other roles. */
const FIRST_ROLE = 'viewer';

export class ProvisionedUsers {
  readonly #deps: ProvisionedUsersDeps;

  constructor(deps: ProvisionedUsersDeps) {
    this.#deps = deps;
  }

  rows(caller: Principal): DirectoryRows<UserRow> {
    return this.#deps.reader.rows(ownScope(caller), 'identity_users');
  }

  /** The groups of these accounts. */
  memberships(caller: Principal, ids: readonly string[]): Promise<Membership[]> {
    return this.#deps.reader.memberships(ownScope(caller), 'user_id', ids);
  }

  async get(id: string, caller: Principal): Promise<UserRow> {
    return (await this.#deps.users.find(ownScope(caller), id)) ?? throwUserNotFound(id);
  }

  async create(draft: UserDraft, source: AuditSource): Promise<UserRow> {
    const scope = ownScope(source.caller);
    const { username } = draft;
    const columns = columnsOf(draft);
    const passwordHash = await this.#hash(draft);
    const base = newUserRow({ tenant: scope.tenant, username, email: undefined, role: FIRST_ROLE, passwordHash });
    const detail = { by: 'scim', username, role: FIRST_ROLE };
    const entry = auditEntry(source, { action: 'user.create', tenant: scope.tenant, target: base.id, detail });
    const user = await withEmail(draft.email, (email) =>
      this.#deps.users.add(scope, (isFirst) => {
        if (isFirst) throw superadminNeeded();
        return { row: { ...base, ...columns, ...email }, entry };
      }),
    );
    this.#deps.onFirstAccount();
    return user;
  }

  /** `change` is asked for the account as it is now, and once more in the transaction; it may throw. */
  async update(id: string, change: (before: UserRow) => UserUpdate, source: AuditSource): Promise<UserRow> {
    const current = await this.get(id, source.caller);
    requireReach(source.caller, current.role);
    const draft = change(current);
    // Hashing takes long, and no transaction waits for it.
    const password_hash = await this.#hash({ ...draft, username: current.username });
    const detail = { by: 'scim', username: draft.username, active: !draft.isDisabled, password: password_hash !== undefined };
    const entry = auditEntry(source, { action: 'user.update', target: id, detail });
    const updated = await withEmail(draft.email, (email) =>
      this.#deps.users.update(
        ownScope(source.caller),
        id,
        (before) => {
          requireReach(source.caller, before.role);
          const columns = columnsOf(change(before));
          return { ...columns, ...(password_hash !== undefined && { password_hash }), ...(draft.hasNewEmail && email) };
        },
        entry,
      ),
    );
    this.#changed(id, source);
    return updated ?? throwUserNotFound(id);
  }

  /** `check` may throw. */
  async remove(id: string, check: (before: UserRow) => void, source: AuditSource): Promise<void> {
    const entry = auditEntry(source, { action: 'user.delete', target: id, detail: { by: 'scim' } });
    const guard = (before: UserRow): void => {
      requireReach(source.caller, before.role);
      check(before);
    };
    const isRemoved = await this.#deps.users.remove(ownScope(source.caller), id, guard, entry);
    this.#changed(id, source);
    if (isRemoved === undefined) throwUserNotFound(id);
  }

  #changed(user: string, { caller, requestId }: AuditSource): void {
    this.#deps.onCredentialsChanged({ tenant: caller.tenant, user, requestId });
  }

  async #hash({ password, username }: Pick<UserDraft, 'password' | 'username'>): Promise<string | undefined> {
    if (password === undefined) return undefined;
    requireStrongPassword(password, username);
    return this.#deps.hasher.hash(password);
  }
}

/** Throws `invalid_request` for a name that no account may have. */
function columnsOf({ username, profile, externalId, isDisabled }: UserDraft) {
  if (!isExternalUsername(username)) {
    const rule = "1 to 128 letters, digits and ._@+#'!~^-, and begin with a letter or digit.";
    throw identityError('invalid_request', `userName must have ${rule}`);
  }
  return { username, username_key: nameKey(username), profile, external_id: externalId, disabled: isDisabled ? 1 : 0 };
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
