/** Who is in which group, as statements of a transaction. Roles are refreshed by the caller, see effective-role.ts. */
import type { Kysely } from 'kysely';
import type { StorageScope, TenantScope } from '../../../platform/storage/index.ts';
import { type GroupMemberRow, type IdentityTables, type MemberSource, within } from '../tables.ts';

/** Rows of one statement: databases limit the parameters. */
const CHUNK = 500;

/** Ids of the accounts that are in a group, whoever put them in. */
export async function memberIds(db: Kysely<IdentityTables>, scope: StorageScope, groupId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('identity_group_members')
    .select('user_id')
    .distinct()
    .where(within(scope))
    .where('group_id', '=', groupId)
    .orderBy('user_id')
    .execute();
  return rows.map(({ user_id }) => user_id);
}

/** Those of the ids that are no accounts of the tenant. */
export async function unknownUsers(
  db: Kysely<IdentityTables>,
  scope: StorageScope,
  tenant: string,
  ids: readonly string[],
): Promise<string[]> {
  const known = new Set<string>();
  for (let at = 0; at < ids.length; at += CHUNK) {
    const rows = await db
      .selectFrom('identity_users')
      .select('id')
      .where(within(scope))
      .where('tenant', '=', tenant)
      .where('id', 'in', ids.slice(at, at + CHUNK))
      .execute();
    for (const { id } of rows) known.add(id);
  }
  return ids.filter((id) => !known.has(id));
}

/** Accounts must be of the group's tenant. Those that are in the group already stay as they are. */
export async function addMembership(
  tx: Kysely<IdentityTables>,
  scope: TenantScope,
  groupId: string,
  userIds: readonly string[],
  source: MemberSource,
): Promise<void> {
  for (let at = 0; at < userIds.length; at += CHUNK) {
    const rows: GroupMemberRow[] = userIds
      .slice(at, at + CHUNK)
      .map((user_id) => ({ tenant: scope.tenant, group_id: groupId, user_id, source }));
    await tx
      .insertInto('identity_group_members')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['group_id', 'user_id', 'source']).doNothing())
      .execute();
  }
}

/** Whoever put them in. Returns how many rows there were. */
export async function removeMembership(
  tx: Kysely<IdentityTables>,
  scope: StorageScope,
  groupId: string,
  userIds: readonly string[],
): Promise<number> {
  let nRemoved = 0;
  for (let at = 0; at < userIds.length; at += CHUNK) {
    const [result] = await tx
      .deleteFrom('identity_group_members')
      .where(within(scope))
      .where('group_id', '=', groupId)
      .where('user_id', 'in', userIds.slice(at, at + CHUNK))
      .execute();
    nRemoved += Number(result?.numDeletedRows ?? 0n);
  }
  return nRemoved;
}
