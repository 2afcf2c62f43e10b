/** Deletes responses: those that have expired, and those of tenants and accounts that are deleted. */
import { type Kysely, sql } from 'kysely';
import type { Belongings } from '../../../platform/module/belongings.ts';
import type { Storage, StorageAccess, StorageScope, SystemScope, TenantScope } from '../../../platform/storage/index.ts';
import type { ResponseTables } from './response-tables.ts';

/** Rows may be large, and a delete holds up other writes. */
const maxRowsAtATime = 100;

/** Names the tenant or the account whose responses are deleted. */
interface Whose {
  readonly column: 'tenant' | 'owner';
  readonly value: string;
}

export class RetentionStore {
  readonly #access: StorageAccess<ResponseTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<ResponseTables>();
  }

  async deleteAll(scope: StorageScope, { column, value }: Whose): Promise<void> {
    for (;;) {
      const [result] = await this.#access.writeUnit(scope, (db) => [
        db
          .deleteFrom('responses')
          .where('id', 'in', (some) => some.selectFrom('responses').select('id').where(column, '=', value).limit(maxRowsAtATime)),
      ]);
      if ((result?.affectedRows ?? 0) === 0) return;
    }
  }

  async holdsAny(scope: TenantScope): Promise<boolean> {
    const rows = await this.#access.read(scope, (db) =>
      db.selectFrom('responses').select('id').where('tenant', '=', scope.tenant).limit(1).execute(),
    );
    return rows.length > 0;
  }

  /**
   * Deletes what expired before `now` (milliseconds since 1970) and returns how many. A response that another one continues stays as long
   * as that: else a conversation that goes on would lose its beginning.
   */
  async deleteExpired(scope: SystemScope, now: number): Promise<number> {
    let nDeleted = 0;
    for (;;) {
      const [result] = await this.#access.writeUnit(scope, (db) => [
        db.deleteFrom('responses').where('id', 'in', expiredIds(db, now)),
      ]);
      const n = result?.affectedRows ?? 0;
      nDeleted += n;
      // The end of a conversation that is gone leaves the response before it without one that continues it.
      if (n === 0) return nDeleted;
    }
  }
}

function expiredIds(db: Kysely<ResponseTables>, now: number) {
  return db
    .selectFrom('responses as expired')
    .select('expired.id')
    .where('expired.expires_at', '<', now)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('responses as later')
            .select(sql`1`.as('one'))
            .whereRef('later.previous_id', '=', 'expired.id')
            .whereRef('later.tenant', '=', 'expired.tenant'),
        ),
      ),
    )
    .limit(maxRowsAtATime);
}

/** Erases the responses of tenants and accounts that are deleted. */
export class ResponseBelongings implements Belongings {
  readonly #store: RetentionStore;

  constructor(store: RetentionStore) {
    this.#store = store;
  }

  holdsAny(scope: TenantScope): Promise<boolean> {
    return this.#store.holdsAny(scope);
  }

  async eraseTenant(scope: TenantScope): Promise<void> {
    await this.#store.deleteAll(scope, { column: 'tenant', value: scope.tenant });
  }

  async eraseAccount(everyone: SystemScope, accountId: string): Promise<void> {
    await this.#store.deleteAll(everyone, { column: 'owner', value: accountId });
  }
}
