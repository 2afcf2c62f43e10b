/** The sessions of accounts: who is signed in, from where. */

import { addressKey } from '../../../platform/network/address-key.ts';
import { type TenantScope, tenantScope } from '../../../platform/storage/index.ts';
import type { AuditEntry } from '../audit/audit-entry.ts';
import { type IdentityWrites, unchanged } from '../changes/identity-writes.ts';
import { type IdentityStorage, type SessionRow, type UserRow, within } from '../tables.ts';

export class SessionStore {
  readonly #storage: IdentityStorage;
  readonly #writes: IdentityWrites;

  constructor(storage: IdentityStorage, writes: IdentityWrites) {
    this.#storage = storage;
    this.#writes = writes;
  }

  /** False: the account was deleted or disabled, or its password changed, since `passwordHash` was verified. */
  add(scope: TenantScope, row: SessionRow, passwordHash: string | null, entry: AuditEntry): Promise<boolean> {
    return this.#writes.write(scope, async (tx) => {
      const user = await tx
        .selectFrom('identity_users')
        .select(['password_hash', 'disabled'])
        .where(within(scope))
        .where('id', '=', row.user_id)
        .executeTakeFirst();
      if (user === undefined || user.disabled === 1 || user.password_hash !== passwordHash) return unchanged(false);
      await tx.insertInto('identity_sessions').values(row).execute();
      await tx
        .updateTable('identity_users')
        .set({ signed_in_at: row.created_at })
        .where(within(scope))
        .where('id', '=', row.user_id)
        .execute();
      return { result: true, entries: [entry] };
    });
  }

  find(scope: TenantScope, id: string): Promise<SessionRow | undefined> {
    return this.#storage.read(scope, (db) =>
      db.selectFrom('identity_sessions').selectAll().where(within(scope)).where('id', '=', id).executeTakeFirst(),
    );
  }

  list(scope: TenantScope, userId: string): Promise<SessionRow[]> {
    return this.#storage.read(scope, (db) =>
      db
        .selectFrom('identity_sessions')
        .selectAll()
        .where(within(scope))
        .where('user_id', '=', userId)
        .orderBy('seen_at', 'desc')
        .limit(1_000)
        .execute(),
    );
  }

  /** Whether the account has a session from this address. */
  async isSignedInFrom({ id, tenant }: Pick<UserRow, 'id' | 'tenant'>, remoteAddress: string): Promise<boolean> {
    const scope = tenantScope(tenant);
    const rows = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('identity_sessions')
        .select('remote_address')
        .distinct()
        .where(within(scope))
        .where('user_id', '=', id)
        .limit(1_000)
        .execute(),
    );
    const key = addressKey(remoteAddress);
    return rows.some(({ remote_address }) => addressKey(remote_address) === key);
  }

  /** One session of an account, or all of them. Returns how many ended. */
  end(scope: TenantScope, userId: string, id: string | undefined, entry: AuditEntry): Promise<number> {
    return this.#writes.write(scope, async (tx) => {
      let query = tx.deleteFrom('identity_sessions').where(within(scope)).where('user_id', '=', userId);
      if (id !== undefined) query = query.where('id', '=', id);
      const [result] = await query.execute();
      const nEnded = Number(result?.numDeletedRows ?? 0n);
      if (nEnded === 0) return unchanged(0);
      return { result: nEnded, entries: [entry], changed: { tenant: scope.tenant, user: userId } };
    });
  }
}
