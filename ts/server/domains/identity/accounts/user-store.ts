/** Accounts. What ends an account's credentials happens in the same transaction as what ends the account. */
import type { Kysely } from 'kysely';
import { type StorageScope, systemScope, type TenantScope, tenantScope } from '../../../platform/storage/index.ts';
import type { AuditEntry } from '../audit/audit-entry.ts';
import { type IdentityWrites, unchanged } from '../changes/identity-writes.ts';
import { enforceAuthentication, isEnforced } from '../enforcement-fact.ts';
import { type IdentityStorage, type IdentityTables, type UserRow, within } from '../tables.ts';
import { effectiveRole } from './effective-role.ts';
import type { Superadmins } from './superadmins.ts';

export interface UserPage {
  /** Accounts behind this id. */
  after: string;
  limit: number;
  /** Only the account of this name, as nameKey() writes it. */
  usernameKey: string | undefined;
  /** Only service accounts, or only others; undefined: all. */
  isService: boolean | undefined;
}

/** `role` is the one that is given to the account itself: its groups may bring it a higher one. */
export type UserChanges = Partial<
  Pick<
    UserRow,
    | 'role'
    | 'disabled'
    | 'password_hash'
    | 'settings'
    | 'email'
    | 'email_key'
    | 'username'
    | 'username_key'
    | 'external_id'
    | 'profile'
  >
>;

export class UserStore {
  readonly #storage: IdentityStorage;
  readonly #writes: IdentityWrites;
  readonly #superadmins: Superadmins;

  constructor(storage: IdentityStorage, writes: IdentityWrites, superadmins: Superadmins) {
    this.#storage = storage;
    this.#writes = writes;
    this.#superadmins = superadmins;
  }

  /**
   * Adds an account and thereby switches authentication on. `decide` completes the row; of several that come at once it is told for exactly
   * one that it is the first of the installation. Throws StorageError unique_violation.
   */
  add(scope: StorageScope, decide: (isFirst: boolean) => { row: UserRow; entry: AuditEntry }): Promise<UserRow> {
    return this.#writes.write(scope, async (tx) => {
      const isFirst = !(await isEnforced(tx));
      const { row, entry } = decide(isFirst);
      if (isFirst) await enforceAuthentication(tx);
      await tx.insertInto('identity_users').values(row).execute();
      return { result: row, entries: [entry] };
    });
  }

  find(scope: StorageScope, id: string): Promise<UserRow | undefined> {
    return this.#storage.read(scope, (db) => findUser(db, scope, id));
  }

  /** By name or address: names of accounts are unique in the installation, so whoever signs in names no tenant. */
  findByName(key: string): Promise<UserRow | undefined> {
    return this.#storage.read(systemScope(), (db) =>
      db
        .selectFrom('identity_users')
        .selectAll()
        .where((eb) => eb.or([eb('username_key', '=', key), eb('email_key', '=', key)]))
        .executeTakeFirst(),
    );
  }

  list(scope: StorageScope, { after, limit, usernameKey, isService }: UserPage): Promise<UserRow[]> {
    return this.#storage.read(scope, (db) => {
      let query = db.selectFrom('identity_users').selectAll().where(within(scope)).where('id', '>', after);
      if (usernameKey !== undefined) query = query.where('username_key', '=', usernameKey);
      if (isService !== undefined) query = query.where('service', '=', isService ? 1 : 0);
      return query.orderBy('id').limit(limit).execute();
    });
  }

  /**
   * `change` may throw. A new password and a disabled account end all sessions. Undefined: the scope has no such account. Throws `last_superadmin`, as
   * `remove()` does.
   */
  update(
    scope: StorageScope,
    id: string,
    change: (before: UserRow) => UserChanges,
    entry: AuditEntry,
  ): Promise<UserRow | undefined> {
    return this.#writes.write(scope, async (tx) => {
      const before = await findUser(tx, scope, id);
      if (before === undefined) return unchanged(undefined);
      const changes = change(before);
      const updated = await changedUser(tx, scope, before, changes, entry.at);
      await this.#guarded(tx, before, async () => {
        await tx.updateTable('identity_users').set(updated).where(within(scope)).where('id', '=', id).execute();
      });
      if (changes.password_hash !== undefined || changes.disabled === 1) await endSessions(tx, scope, id);
      return { result: updated, entries: [{ ...entry, tenant: updated.tenant }], changed: { tenant: updated.tenant, user: id } };
    });
  }

  async writeSettings(scope: TenantScope, id: string, settings: string): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db.updateTable('identity_users').set({ settings }).where(within(scope)).where('id', '=', id),
    ]);
  }

  /** `check` may throw. Keys stay as revoked ones. Returns the account that was; undefined: the scope has no such account. */
  remove(scope: StorageScope, id: string, check: (before: UserRow) => void, entry: AuditEntry): Promise<UserRow | undefined> {
    return this.#writes.write(scope, async (tx) => {
      const before = await findUser(tx, scope, id);
      if (before === undefined) return unchanged(undefined);
      check(before);
      await tx
        .updateTable('identity_api_keys')
        .set({ revoked_at: entry.at })
        .where(within(scope))
        .where('user_id', '=', id)
        .where('revoked_at', 'is', null)
        .execute();
      await endSessions(tx, scope, id);
      await this.#guarded(tx, before, async () => {
        for (const table of TABLES_OF_USERS) await tx.deleteFrom(table).where(within(scope)).where('user_id', '=', id).execute();
        await tx.deleteFrom('identity_users').where(within(scope)).where('id', '=', id).execute();
      });
      await tx.insertInto('identity_deleted_users').values({ id, deleted_at: entry.at }).execute();
      return { result: before, entries: [{ ...entry, tenant: before.tenant }], changed: { tenant: before.tenant, user: id } };
    });
  }

  /** Row-level security hides superadmins of other tenants from a tenant's scope, so there its own must keep one. */
  async #guarded(tx: Kysely<IdentityTables>, { role }: UserRow, change: () => Promise<void>): Promise<void> {
    await (role === 'superadmin' ? this.#superadmins.guard(tx, change) : change());
  }

  async addReset(user: UserRow, hash: string, expiresAt: number, entry: AuditEntry): Promise<void> {
    const { tenant, id } = user;
    const scope = tenantScope(tenant);
    await this.#writes.write(scope, async (tx) => {
      await tx.deleteFrom('identity_password_resets').where(within(scope)).where('user_id', '=', id).execute();
      await tx.insertInto('identity_password_resets').values({ tenant, hash, user_id: id, expires_at: expiresAt }).execute();
      return { result: undefined, entries: [entry] };
    });
  }

  /** Takes a reset token, which then never works again, and sets the password. Undefined: there is no such token any more. */
  useReset(hash: string, passwordHash: string, entryFor: (user: UserRow) => AuditEntry): Promise<UserRow | undefined> {
    const scope = systemScope();
    return this.#writes.write(scope, async (tx) => {
      const reset = await tx.selectFrom('identity_password_resets').selectAll().where('hash', '=', hash).executeTakeFirst();
      if (reset === undefined || reset.expires_at <= Date.now()) return unchanged(undefined);
      await tx.deleteFrom('identity_password_resets').where('hash', '=', hash).execute();
      const user = await findUser(tx, scope, reset.user_id);
      if (user === undefined) return unchanged(undefined);
      await tx.updateTable('identity_users').set({ password_hash: passwordHash }).where('id', '=', user.id).execute();
      await endSessions(tx, scope, user.id);
      return { result: user, entries: [entryFor(user)], changed: { tenant: user.tenant, user: user.id } };
    });
  }
}

/** What goes with an account, beside its sessions. */
const TABLES_OF_USERS = [
  'identity_password_resets',
  'identity_group_members',
  'identity_links',
  'identity_capabilities',
] as const;

function findUser(db: Kysely<IdentityTables>, scope: StorageScope, id: string): Promise<UserRow | undefined> {
  return db.selectFrom('identity_users').selectAll().where(within(scope)).where('id', '=', id).executeTakeFirst();
}

async function changedUser(
  tx: Kysely<IdentityTables>,
  scope: StorageScope,
  user: UserRow,
  changes: UserChanges,
  at: number,
): Promise<UserRow> {
  const updated: UserRow = { ...user, ...changes, updated_at: at };
  if (changes.role === undefined) return updated;
  return { ...updated, assigned_role: changes.role, role: await effectiveRole(tx, scope, user.id, changes.role) };
}

async function endSessions(tx: Kysely<IdentityTables>, scope: StorageScope, userId: string): Promise<void> {
  await tx.deleteFrom('identity_sessions').where(within(scope)).where('user_id', '=', userId).execute();
}
