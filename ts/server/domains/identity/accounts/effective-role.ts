/** The role of an account that counts: the highest of its own and those of its groups. It stands in its row, so that reading one costs nothing. */
import type { Kysely } from 'kysely';
import { ROLES, type Role } from '../../../platform/http/principal.ts';
import type { StorageScope } from '../../../platform/storage/index.ts';
import { type IdentityTables, within } from '../tables.ts';
import { rankOf } from './scopes.ts';

/** Rows of one statement: databases limit the parameters. */
const CHUNK = 500;

export async function effectiveRole(
  tx: Kysely<IdentityTables>,
  scope: StorageScope,
  userId: string,
  assigned: Role,
): Promise<Role> {
  const groups = await tx
    .selectFrom('identity_groups')
    .select('role')
    .where(within(scope))
    .where('role', 'is not', null)
    .where('id', 'in', (eb) => eb.selectFrom('identity_group_members').select('group_id').where('user_id', '=', userId))
    .execute();
  return highestRole([assigned, ...groups.map(({ role }) => role)]);
}

/** Must be called in the transaction that changed the groups of these accounts, or the role of a group of theirs. */
export async function refreshRoles(tx: Kysely<IdentityTables>, scope: StorageScope, userIds: readonly string[]): Promise<void> {
  for (let at = 0; at < userIds.length; at += CHUNK) await refreshChunk(tx, scope, userIds.slice(at, at + CHUNK));
}

async function refreshChunk(tx: Kysely<IdentityTables>, scope: StorageScope, ids: readonly string[]): Promise<void> {
  const users = await tx
    .selectFrom('identity_users')
    .select(['id', 'role', 'assigned_role'])
    .where(within(scope))
    .where('id', 'in', ids)
    .execute();
  const given = await tx
    .selectFrom('identity_group_members')
    .innerJoin('identity_groups', 'identity_groups.id', 'identity_group_members.group_id')
    .select(['identity_group_members.user_id', 'identity_groups.role'])
    .where('identity_group_members.user_id', 'in', ids)
    .where('identity_groups.role', 'is not', null)
    .execute();
  const byUser = Map.groupBy(given, ({ user_id }) => user_id);
  const all = users.map((user) => ({
    ...user,
    next: highestRole([user.assigned_role, ...(byUser.get(user.id) ?? []).map((group) => group.role)]),
  }));
  const changed = all.filter(({ role, next }) => next !== role);
  for (const [role, group] of Map.groupBy(changed, ({ next }) => next)) {
    const those = group.map(({ id }) => id);
    await tx.updateTable('identity_users').set({ role }).where(within(scope)).where('id', 'in', those).execute();
  }
}

function highestRole(roles: readonly (Role | null)[]): Role {
  const rank = Math.max(0, ...roles.map((role) => rankOf(role ?? undefined)));
  return ROLES[rank] ?? 'viewer';
}
