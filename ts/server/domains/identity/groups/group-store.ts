/** Groups of accounts. What changes who is in a group, or the role that it gives, changes the roles of its members in the same transaction. */
import type { Kysely } from 'kysely';
import { type StorageScope, type TenantScope, tenantScope } from '../../../platform/storage/index.ts';
import { refreshRoles } from '../accounts/effective-role.ts';
import type { AuditEntry } from '../audit/audit-entry.ts';
import { type IdentityWrites, unchanged } from '../changes/identity-writes.ts';
import { type GroupRow, type IdentityStorage, type IdentityTables, type UserRow, within } from '../tables.ts';
import { addMembership, memberIds, removeMembership, unknownUsers } from './memberships.ts';

export interface GroupPage {
  /** Groups behind this id. */
  after: string;
  limit: number;
  /** Only the group of this name, as nameKey() writes it. */
  nameKey: string | undefined;
}

export type GroupChanges = Partial<Pick<GroupRow, 'name' | 'name_key' | 'description' | 'role' | 'grants' | 'external_id'>>;
export type CountedGroup = GroupRow & { nMembers: number };

/** Names by kind, in which `*` stands for any characters. */
export function grantsOf({ grants }: Pick<GroupRow, 'grants'>): Readonly<Record<string, readonly string[]>> {
  return JSON.parse(grants) as Record<string, string[]>;
}

export class GroupStore {
  readonly #storage: IdentityStorage;
  readonly #writes: IdentityWrites;

  constructor(storage: IdentityStorage, writes: IdentityWrites) {
    this.#storage = storage;
    this.#writes = writes;
  }

  /** Throws StorageError unique_violation. */
  async add(scope: TenantScope, row: GroupRow, entry: AuditEntry): Promise<void> {
    await this.#writes.write(scope, async (tx) => {
      await tx.insertInto('identity_groups').values(row).execute();
      return { result: undefined, entries: [entry] };
    });
  }

  find(scope: StorageScope, id: string): Promise<CountedGroup | undefined> {
    return this.#storage.read(scope, async (db) => {
      const row = await findGroup(db, scope, id);
      return row && ((await withCounts(db, scope, [row]))[0] as CountedGroup);
    });
  }

  list(scope: StorageScope, { after, limit, nameKey }: GroupPage): Promise<CountedGroup[]> {
    return this.#storage.read(scope, async (db) => {
      let query = db.selectFrom('identity_groups').selectAll().where(within(scope)).where('id', '>', after);
      if (nameKey !== undefined) query = query.where('name_key', '=', nameKey);
      return withCounts(db, scope, await query.orderBy('id').limit(limit).execute());
    });
  }

  /** `change` may throw. Undefined: the scope has no such group. Throws StorageError unique_violation. */
  update(
    scope: StorageScope,
    id: string,
    change: (before: GroupRow) => GroupChanges,
    entry: AuditEntry,
  ): Promise<GroupRow | undefined> {
    return this.#writes.write(scope, async (tx) => {
      const before = await findGroup(tx, scope, id);
      if (before === undefined) return unchanged(undefined);
      const updated: GroupRow = { ...before, ...change(before), updated_at: entry.at };
      await tx.updateTable('identity_groups').set(updated).where(within(scope)).where('id', '=', id).execute();
      if (updated.role !== before.role) await refreshRoles(tx, scope, await memberIds(tx, scope, id));
      return {
        result: updated,
        entries: [{ ...entry, tenant: before.tenant }],
        changed: { tenant: before.tenant, user: undefined },
      };
    });
  }

  /** `check` may throw. False: the scope has no such group. */
  remove(scope: StorageScope, id: string, check: (before: GroupRow) => void, entry: AuditEntry): Promise<boolean> {
    return this.#writes.write(scope, async (tx) => {
      const before = await findGroup(tx, scope, id);
      if (before === undefined) return unchanged(false);
      check(before);
      const members = await memberIds(tx, scope, id);
      await tx.deleteFrom('identity_group_members').where(within(scope)).where('group_id', '=', id).execute();
      await tx.deleteFrom('identity_groups').where(within(scope)).where('id', '=', id).execute();
      await refreshRoles(tx, scope, members);
      return {
        result: true,
        entries: [{ ...entry, tenant: before.tenant }],
        changed: { tenant: before.tenant, user: undefined },
      };
    });
  }

  /** Accounts of a group behind an id. */
  members(scope: StorageScope, groupId: string, after: string, limit: number): Promise<UserRow[]> {
    return this.#storage.read(scope, (db) =>
      db
        .selectFrom('identity_users')
        .selectAll()
        .where(within(scope))
        .where('id', 'in', (eb) => eb.selectFrom('identity_group_members').select('user_id').where('group_id', '=', groupId))
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit)
        .execute(),
    );
  }

  /** `check` is told which ids are no accounts of the group's tenant, and may throw. False: the scope has no such group. */
  addMembers(
    scope: StorageScope,
    groupId: string,
    userIds: readonly string[],
    check: (unknown: readonly string[]) => void,
    entry: AuditEntry,
  ): Promise<boolean> {
    return this.#writes.write(scope, async (tx) => {
      const group = await findGroup(tx, scope, groupId);
      if (group === undefined) return unchanged(false);
      check(await unknownUsers(tx, scope, group.tenant, userIds));
      await addMembership(tx, scopeOfGroup(group), groupId, userIds, 'direct');
      await touch(tx, scope, groupId, entry.at);
      await refreshRoles(tx, scope, userIds);
      return { result: true, entries: [{ ...entry, tenant: group.tenant }], changed: { tenant: group.tenant, user: undefined } };
    });
  }

  /**
   * Takes an account out of a group, whoever put it in. False: it was not in it. What a sign-in provider says is written again at the next
   * sign-in.
   */
  removeMember(scope: StorageScope, groupId: string, userId: string, entry: AuditEntry): Promise<boolean> {
    return this.#writes.write(scope, async (tx) => {
      const group = await findGroup(tx, scope, groupId);
      if (group === undefined || (await removeMembership(tx, scope, groupId, [userId])) === 0) return unchanged(false);
      await touch(tx, scope, groupId, entry.at);
      await refreshRoles(tx, scope, [userId]);
      return { result: true, entries: [{ ...entry, tenant: group.tenant }], changed: { tenant: group.tenant, user: undefined } };
    });
  }

  /** Groups of the tenant that an account is in. */
  groupsOf(scope: TenantScope, userId: string): Promise<GroupRow[]> {
    return this.#storage.read(scope, (db) =>
      db
        .selectFrom('identity_groups')
        .selectAll()
        .where(within(scope))
        .where('id', 'in', (eb) => eb.selectFrom('identity_group_members').select('group_id').where('user_id', '=', userId))
        .execute(),
    );
  }
}

export function findGroup(db: Kysely<IdentityTables>, scope: StorageScope, id: string): Promise<GroupRow | undefined> {
  return db.selectFrom('identity_groups').selectAll().where(within(scope)).where('id', '=', id).executeTakeFirst();
}

async function touch(tx: Kysely<IdentityTables>, scope: StorageScope, id: string, at: number): Promise<void> {
  await tx.updateTable('identity_groups').set({ updated_at: at }).where(within(scope)).where('id', '=', id).execute();
}

function scopeOfGroup({ tenant }: GroupRow): TenantScope {
  return tenantScope(tenant);
}

async function withCounts(db: Kysely<IdentityTables>, scope: StorageScope, rows: readonly GroupRow[]): Promise<CountedGroup[]> {
  if (rows.length === 0) return [];
  const counts = await db
    .selectFrom('identity_group_members')
    .select((eb) => ['group_id', eb.fn.count<number>('user_id').distinct().as('n')])
    .where(within(scope))
    .where(
      'group_id',
      'in',
      rows.map(({ id }) => id),
    )
    .groupBy('group_id')
    .execute();
  const byId = new Map(counts.map(({ group_id, n }) => [group_id, Number(n)]));
  return rows.map((row) => ({ ...row, nMembers: byId.get(row.id) ?? 0 }));
}
