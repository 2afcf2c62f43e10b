/** Invitations: only the hash of a token is stored, and an account is made in the transaction that counts the use. */
import type { Kysely } from 'kysely';
import { type StorageScope, systemScope, type TenantScope, tenantScope } from '../../../platform/storage/index.ts';
import { effectiveRole } from '../accounts/effective-role.ts';
import { rankOf } from '../accounts/scopes.ts';
import type { AuditEntry } from '../audit/audit-entry.ts';
import { type IdentityWrites, unchanged } from '../changes/identity-writes.ts';
import { isEnforced } from '../enforcement-fact.ts';
import { addMembership } from '../groups/memberships.ts';
import { type IdentityStorage, type IdentityTables, type InvitationRow, type UserRow, within } from '../tables.ts';

export class InvitationStore {
  readonly #storage: IdentityStorage;
  readonly #writes: IdentityWrites;

  constructor(storage: IdentityStorage, writes: IdentityWrites) {
    this.#storage = storage;
    this.#writes = writes;
  }

  /** `check` is told which groups are not of the tenant, and may throw. */
  async add(
    scope: TenantScope,
    row: InvitationRow,
    check: (unknownGroups: readonly string[]) => void,
    entry: AuditEntry,
  ): Promise<void> {
    await this.#writes.write(scope, async (tx) => {
      const groups = JSON.parse(row.groups) as string[];
      const known = await knownGroups(tx, scope, groups);
      check(groups.filter((id) => !known.includes(id)));
      await tx.insertInto('identity_invitations').values(row).execute();
      return { result: undefined, entries: [entry] };
    });
  }

  /** Also those that have expired or are used up, until they are removed. */
  list(scope: StorageScope, after: string, limit: number): Promise<InvitationRow[]> {
    return this.#storage.read(scope, (db) =>
      db
        .selectFrom('identity_invitations')
        .selectAll()
        .where(within(scope))
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit)
        .execute(),
    );
  }

  /** False: the scope has no such invitation. */
  remove(scope: StorageScope, id: string, entry: AuditEntry): Promise<boolean> {
    return this.#writes.write(scope, async (tx) => {
      const row = await tx
        .selectFrom('identity_invitations')
        .select('tenant')
        .where(within(scope))
        .where('id', '=', id)
        .executeTakeFirst();
      if (row === undefined) return unchanged(false);
      await tx.deleteFrom('identity_invitations').where(within(scope)).where('id', '=', id).execute();
      return { result: true, entries: [{ ...entry, tenant: row.tenant }] };
    });
  }

  /**
   * Makes the account that `make` describes and counts the use. The token is what tells the tenant. Undefined: nobody may use it, or not any
   * more. Throws StorageError unique_violation, and then the use is not counted.
   */
  redeem(
    hash: string,
    nowMs: number,
    make: (invitation: InvitationRow) => { row: UserRow; entry: AuditEntry },
  ): Promise<UserRow | undefined> {
    return this.#writes.write(systemScope(), async (tx) => {
      const invitation = await tx
        .selectFrom('identity_invitations')
        .selectAll()
        .where('hash', '=', hash)
        .where('expires_at', '>', nowMs)
        .executeTakeFirst();
      if (invitation === undefined || invitation.uses >= invitation.max_uses) return unchanged(undefined);
      if (!(await isEnforced(tx)) || !(await mayStillInvite(tx, invitation))) return unchanged(undefined);
      const { row, entry } = make(invitation);
      await tx
        .updateTable('identity_invitations')
        .set({ uses: invitation.uses + 1 })
        .where('id', '=', invitation.id)
        .execute();
      const user = await addUser(tx, invitation, row);
      return { result: user, entries: [entry] };
    });
  }
}

async function addUser(tx: Kysely<IdentityTables>, invitation: InvitationRow, row: UserRow): Promise<UserRow> {
  const scope = tenantScope(invitation.tenant);
  await tx.insertInto('identity_users').values(row).execute();
  const groups = await knownGroups(tx, scope, JSON.parse(invitation.groups) as string[]);
  for (const id of groups) await addMembership(tx, scope, id, [row.id], 'direct');
  const role = await effectiveRole(tx, scope, row.id, row.assigned_role);
  await tx.updateTable('identity_users').set({ role }).where('id', '=', row.id).execute();
  return { ...row, role };
}

/** An account that was deleted, disabled or has a lower role now must not go on making others through links that it left. */
async function mayStillInvite(tx: Kysely<IdentityTables>, { created_by, role }: InvitationRow): Promise<boolean> {
  if (created_by === null) return true;
  const maker = await tx
    .selectFrom('identity_users')
    .select(['role', 'disabled'])
    .where('id', '=', created_by)
    .executeTakeFirst();
  return maker !== undefined && maker.disabled === 0 && rankOf(maker.role) >= Math.max(rankOf(role), rankOf('admin'));
}

async function knownGroups(tx: Kysely<IdentityTables>, scope: TenantScope, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await tx
    .selectFrom('identity_groups')
    .select('id')
    .where('tenant', '=', scope.tenant)
    .where('id', 'in', ids)
    .execute();
  return rows.map(({ id }) => id);
}
