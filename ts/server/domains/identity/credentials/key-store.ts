/** The API keys of accounts. */
import type { StorageScope, TenantScope } from '../../../platform/storage/index.ts';
import type { AuditEntry } from '../audit/audit-entry.ts';
import { type IdentityWrites, unchanged } from '../changes/identity-writes.ts';
import { type ApiKeyRow, type IdentityStorage, within } from '../tables.ts';

export interface KeyPage {
  /** Keys behind this id. */
  after: string;
  limit: number;
  /** Only those of this account. */
  userId: string | undefined;
}

export type NamePage = Pick<KeyPage, 'after' | 'limit'>;
export type KeyNameRow = Pick<ApiKeyRow, 'id' | 'name' | 'user_id' | 'tenant' | 'revoked_at'>;

export class KeyStore {
  readonly #storage: IdentityStorage;
  readonly #writes: IdentityWrites;

  constructor(storage: IdentityStorage, writes: IdentityWrites) {
    this.#storage = storage;
    this.#writes = writes;
  }

  async add(scope: TenantScope, row: ApiKeyRow, entry: AuditEntry): Promise<void> {
    await this.#writes.write(scope, async (tx) => {
      await tx.insertInto('identity_api_keys').values(row).execute();
      return { result: undefined, entries: [entry] };
    });
  }

  find(scope: StorageScope, id: string): Promise<ApiKeyRow | undefined> {
    return this.#storage.read(scope, (db) =>
      db.selectFrom('identity_api_keys').selectAll().where(within(scope)).where('id', '=', id).executeTakeFirst(),
    );
  }

  /** Keys that work or may have expired, without revoked ones. */
  list(scope: StorageScope, { after, limit, userId }: KeyPage): Promise<ApiKeyRow[]> {
    return this.#storage.read(scope, (db) => {
      let query = db.selectFrom('identity_api_keys').selectAll().where(within(scope)).where('id', '>', after);
      if (userId !== undefined) query = query.where('user_id', '=', userId);
      return query.where('revoked_at', 'is', null).orderBy('id').limit(limit).execute();
    });
  }

  listNames(scope: StorageScope, { after, limit }: NamePage): Promise<KeyNameRow[]> {
    return this.#storage.read(scope, (db) =>
      db
        .selectFrom('identity_api_keys')
        .select(['id', 'name', 'user_id', 'tenant', 'revoked_at'])
        .where(within(scope))
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit)
        .execute(),
    );
  }

  /** False: it is revoked already, or not of the scope. */
  revoke(scope: TenantScope, { id, user_id }: ApiKeyRow, entry: AuditEntry): Promise<boolean> {
    return this.#writes.write(scope, async (tx) => {
      const [result] = await tx
        .updateTable('identity_api_keys')
        .set({ revoked_at: entry.at })
        .where(within(scope))
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .execute();
      if (result?.numUpdatedRows !== 1n) return unchanged(false);
      return { result: true, entries: [entry], changed: { tenant: scope.tenant, user: user_id } };
    });
  }

  /**
   * Puts a new key in the place of the account's key that `choose` takes from those that are not revoked; undefined: it is one more. Both
   * happen, or neither.
   */
  rotate<Made extends { row: ApiKeyRow; entry: AuditEntry }>(
    scope: TenantScope,
    userId: string,
    choose: (keys: readonly ApiKeyRow[]) => ApiKeyRow | undefined,
    make: (old: ApiKeyRow | undefined) => Made,
  ): Promise<Made> {
    return this.#writes.write(scope, async (tx) => {
      const keys = await tx
        .selectFrom('identity_api_keys')
        .selectAll()
        .where(within(scope))
        .where('user_id', '=', userId)
        .where('revoked_at', 'is', null)
        .orderBy('id')
        .execute();
      const old = choose(keys);
      const made = make(old);
      const { row, entry } = made;
      if (old !== undefined) {
        await tx
          .updateTable('identity_api_keys')
          .set({ revoked_at: row.created_at })
          .where(within(scope))
          .where('id', '=', old.id)
          .execute();
      }
      await tx.insertInto('identity_api_keys').values(row).execute();
      return { result: made, entries: [entry], changed: { tenant: scope.tenant, user: userId } };
    });
  }
}
