/** Groups as a directory writes them: a group and all of its members in one transaction. */
import type { Kysely } from 'kysely';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { refreshRoles } from '../accounts/effective-role.ts';
import type { AuditEntry } from '../audit/audit-entry.ts';
import { type IdentityWrites, unchanged } from '../changes/identity-writes.ts';
import { findGroup, type GroupChanges } from '../groups/group-store.ts';
import { addMembership, memberIds, removeMembership, unknownUsers } from '../groups/memberships.ts';
import type { GroupRow, IdentityTables } from '../tables.ts';
import { within } from '../tables.ts';

interface DraftedGroup {
  changes: GroupChanges;
  /** Ids of accounts; undefined: they stay as they are. */
  members: readonly string[] | undefined;
}

/** Is told which ids are no accounts of the tenant, and may throw. */
type CheckMembers = (unknown: readonly string[]) => void;

export class GroupWrites {
  readonly #writes: IdentityWrites;

  constructor(writes: IdentityWrites) {
    this.#writes = writes;
  }

  /** Throws StorageError unique_violation. */
  async add(
    scope: TenantScope,
    row: GroupRow,
    members: readonly string[],
    check: CheckMembers,
    entry: AuditEntry,
  ): Promise<void> {
    await this.#writes.write(scope, async (tx) => {
      check(await unknownUsers(tx, scope, scope.tenant, members));
      await tx.insertInto('identity_groups').values(row).execute();
      await addMembership(tx, scope, row.id, members, 'direct');
      return { result: undefined, entries: [entry], changed: { tenant: scope.tenant, user: undefined } };
    });
  }

  /** `change` may throw. Undefined: the tenant has no such group. Throws StorageError unique_violation. */
  update(
    scope: TenantScope,
    id: string,
    change: (row: GroupRow, members: readonly string[]) => DraftedGroup,
    check: CheckMembers,
    entry: AuditEntry,
  ): Promise<GroupRow | undefined> {
    return this.#writes.write(scope, async (tx) => {
      const before = await findGroup(tx, scope, id);
      if (before === undefined) return unchanged(undefined);
      const current = await memberIds(tx, scope, id);
      const { changes, members } = change(before, current);
      const updated: GroupRow = { ...before, ...changes, updated_at: entry.at };
      await tx.updateTable('identity_groups').set(updated).where(within(scope)).where('id', '=', id).execute();
      if (members !== undefined) await replaceMembers(tx, scope, id, current, members, check);
      return { result: updated, entries: [entry], changed: { tenant: scope.tenant, user: undefined } };
    });
  }
}

async function replaceMembers(
  tx: Kysely<IdentityTables>,
  scope: TenantScope,
  id: string,
  before: readonly string[],
  after: readonly string[],
  check: CheckMembers,
): Promise<void> {
  const [old, wanted] = [new Set(before), new Set(after)];
  const added = [...wanted].filter((user) => !old.has(user));
  const removed = before.filter((user) => !wanted.has(user));
  check(await unknownUsers(tx, scope, scope.tenant, added));
  await addMembership(tx, scope, id, added, 'direct');
  await removeMembership(tx, scope, id, removed);
  await refreshRoles(tx, scope, [...added, ...removed]);
}
