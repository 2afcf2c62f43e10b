/** Which account a person of a sign-in provider has here: by issuer and subject alone, never by an address or a name. */
import type { Kysely } from 'kysely';
import type { Role } from '../../../platform/http/principal.ts';
import { systemScope, type TenantScope, tenantScope } from '../../../platform/storage/index.ts';
import { nameKey } from '../accounts/account-name.ts';
import { effectiveRole } from '../accounts/effective-role.ts';
import { newUserRow } from '../accounts/new-user-row.ts';
import type { Superadmins } from '../accounts/superadmins.ts';
import type { AuditEntry } from '../audit/audit-entry.ts';
import { type IdentityWrites, unchanged } from '../changes/identity-writes.ts';
import { isEnforced } from '../enforcement-fact.ts';
import { addMembership } from '../groups/memberships.ts';
import { randomBase62 } from '../secrets/base62.ts';
import { type IdentityStorage, type IdentityTables, type LinkRow, type UserRow, within } from '../tables.ts';
import type { Access } from './access-map.ts';
import type { Person } from './person.ts';

/** What the settings say of a person; may throw. */
export interface AccessRule {
  /** For a person without an account. */
  ofNew(): Access;
  /** The role in the tenant of the account; undefined: the account keeps its own. */
  roleOf(user: UserRow, isManaged: boolean): Role | undefined;
}

export interface SignedIn {
  user: UserRow;
  isNew: boolean;
}

type EntryOf = (user: UserRow, what: 'made' | 'linked' | 'changed') => AuditEntry;

type Tx = Kysely<IdentityTables>;

interface Refreshed {
  role: Role | undefined;
  person: Person;
  entryOf: EntryOf;
}

export class LinkStore {
  readonly #storage: IdentityStorage;
  readonly #writes: IdentityWrites;
  readonly #superadmins: Superadmins;

  constructor(storage: IdentityStorage, writes: IdentityWrites, superadmins: Superadmins) {
    this.#storage = storage;
    this.#writes = writes;
    this.#superadmins = superadmins;
  }

  /**
   * The account of a person, made or found and brought up to date in one transaction. The link is what tells the tenant. Undefined: the
   * installation has no account yet, and the first one is not made by a provider. Throws what the rule throws, and StorageError unique_violation.
   */
  signIn(person: Person, rule: AccessRule, entryOf: EntryOf): Promise<SignedIn | undefined> {
    return this.#writes.write<SignedIn | undefined>(systemScope(), async (tx) => {
      if (!(await isEnforced(tx))) return unchanged(undefined);
      const known = await findLinked(tx, person);
      if (known !== undefined) {
        const role = rule.roleOf(known.user, known.link.is_managed === 1);
        return this.#refreshed(tx, known.user, { role, person, entryOf });
      }
      const access = rule.ofNew();
      const provisioned = await findProvisioned(tx, access, person);
      const user = provisioned ?? (await addUser(tx, access, person));
      await addLink(tx, user, person, true);
      const isNew = provisioned === undefined;
      const role = isNew ? undefined : rule.roleOf(user, true);
      const { result, entries, changed } = await this.#refreshed(tx, user, { role, person, entryOf });
      return { result: { ...result, isNew }, entries: [entryOf(user, isNew ? 'made' : 'linked'), ...entries], changed };
    });
  }

  /** Links an account that is there. False: the person is linked already, to this account or to another one. */
  link(scope: TenantScope, userId: string, person: Person, entry: AuditEntry): Promise<boolean> {
    return this.#writes.write(systemScope(), async (tx) => {
      if ((await findLinked(tx, person)) !== undefined) return unchanged(false);
      const user = await tx
        .selectFrom('identity_users')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('id', '=', userId)
        .executeTakeFirst();
      if (user === undefined) return unchanged(false);
      await addLink(tx, user, person, false);
      return { result: true, entries: [entry] };
    });
  }

  /** The account of a person, as it is now; undefined: the person never signed in here. */
  find(issuer: string, subject: string): Promise<UserRow | undefined> {
    return this.#storage.read(systemScope(), async (db) => (await findLinked(db, { issuer, subject }))?.user);
  }

  list(scope: TenantScope, userId: string): Promise<LinkRow[]> {
    return this.#storage.read(scope, (db) =>
      db
        .selectFrom('identity_links')
        .selectAll()
        .where(within(scope))
        .where('user_id', '=', userId)
        .orderBy('created_at')
        .execute(),
    );
  }

  /**
   * Takes away what the owner linked, and returns how many links that were. An account that the provider made stays linked: its owner could else keep a role
   * that the provider takes away. Throws `last_superadmin`.
   */
  unlink(scope: TenantScope, userId: string, entry: AuditEntry): Promise<number> {
    // Superadmins of all tenants are counted.
    return this.#writes.write(systemScope(), async (tx) => {
      const [result] = await this.#superadmins.guard(tx, () =>
        tx
          .deleteFrom('identity_links')
          .where('tenant', '=', scope.tenant)
          .where('user_id', '=', userId)
          .where('is_managed', '=', 0)
          .execute(),
      );
      const nRemoved = Number(result?.numDeletedRows ?? 0n);
      return { result: nRemoved, entries: nRemoved > 0 ? [entry] : [] };
    });
  }

  /** Groups and role as the provider says now; but somebody must be able to administer the installation, whatever it says. */
  async #refreshed(tx: Tx, user: UserRow, { role, person, entryOf }: Refreshed) {
    const changed = { tenant: user.tenant, user: user.id };
    await replaceGroups(tx, user, person.groups);
    const isDemoted = user.assigned_role === 'superadmin' && role !== 'superadmin';
    const isKept = role === undefined || (isDemoted && (await this.#superadmins.isLast(tx, user.id)));
    const assigned = isKept ? user.assigned_role : role;
    const next = await effectiveRole(tx, tenantScope(user.tenant), user.id, assigned);
    if (assigned === user.assigned_role && next === user.role) return { result: { user, isNew: false }, entries: [], changed };
    const updated: UserRow = { ...user, assigned_role: assigned, role: next, updated_at: Date.now() };
    await tx.updateTable('identity_users').set(updated).where('id', '=', user.id).execute();
    return { result: { user: updated, isNew: false }, entries: [entryOf(updated, 'changed')], changed };
  }
}

async function findLinked(
  tx: Tx,
  { issuer, subject }: Pick<Person, 'issuer' | 'subject'>,
): Promise<{ link: LinkRow; user: UserRow } | undefined> {
  const link = await tx
    .selectFrom('identity_links')
    .selectAll()
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
  if (link === undefined) return undefined;
  const user = await tx.selectFrom('identity_users').selectAll().where('id', '=', link.user_id).executeTakeFirst();
  return user && { link, user };
}

/**
 * The account that a directory made for the person in the tenant that the settings give. Of several none: it cannot be known which. A superadmin gets an account of
 * its own: administrators of the tenant write the directory's ids, and may know the password of what they provision.
 */
async function findProvisioned(tx: Tx, { tenant, role }: Access, { directoryId }: Person): Promise<UserRow | undefined> {
  if (directoryId === undefined || role === 'superadmin') return undefined;
  const users = await tx
    .selectFrom('identity_users')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('external_id', '=', directoryId)
    .limit(2)
    .execute();
  return users.length === 1 ? users[0] : undefined;
}

async function addUser(tx: Tx, { tenant, role }: Access, person: Person): Promise<UserRow> {
  const isTaken = async (name: string): Promise<boolean> => {
    const key = nameKey(name);
    const found = await tx
      .selectFrom('identity_users')
      .select('id')
      .where((eb) => eb.or([eb('username_key', '=', key), eb('email_key', '=', key)]))
      .executeTakeFirst();
    return found !== undefined;
  };
  // A name that somebody has says nothing about who the person is: the account gets another name.
  const username = (await isTaken(person.username)) ? `${person.username.slice(0, 100)}-${randomBase62(6)}` : person.username;
  const email = person.email === undefined || (await isTaken(person.email)) ? undefined : person.email;
  const row = newUserRow({ tenant, username, email, role, passwordHash: undefined });
  await tx.insertInto('identity_users').values(row).execute();
  return row;
}

async function addLink(tx: Tx, user: UserRow, { issuer, subject }: Person, isManaged: boolean): Promise<void> {
  const link: LinkRow = {
    tenant: user.tenant,
    issuer,
    subject,
    user_id: user.id,
    is_managed: isManaged ? 1 : 0,
    created_at: Date.now(),
  };
  await tx.insertInto('identity_links').values(link).execute();
}

/** Groups of the account's tenant that have the id or the name of one of the person's groups. Who was put in by hand stays in. */
async function replaceGroups(tx: Tx, { tenant, id }: UserRow, groups: readonly string[]): Promise<void> {
  await tx.deleteFrom('identity_group_members').where('user_id', '=', id).where('source', '=', 'sign_in').execute();
  if (groups.length === 0) return;
  const found = await tx
    .selectFrom('identity_groups')
    .select('id')
    .where('tenant', '=', tenant)
    .where((eb) => eb.or([eb('external_id', 'in', groups), eb('name_key', 'in', groups.map(nameKey))]))
    .execute();
  for (const group of found) await addMembership(tx, tenantScope(tenant), group.id, [id], 'sign_in');
}
