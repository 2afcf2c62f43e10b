/** Accounts and messages on disk. A message is there before its job, and its job is named before its first byte leaves. */

import { type Kysely, sql } from 'kysely';
import { deleteInBatches, type SystemScope, type TenantScope } from '../../platform/storage/index.ts';
import { commError } from './errors.ts';
import { type AccountRow, type CommStorage, type CommTables, everyMessage, type MessageRow } from './tables.ts';

const DAY_MS = 24 * 3_600_000;

/** Both tables have one record for each time that an account was used. */
type RecordTable = 'comm_messages' | 'comm_calls';

export interface RecordPage {
  /** Undefined: those of everybody in the tenant. */
  readonly owner: string | undefined;
  /** Those older than this id; empty: from the newest on. */
  readonly after: string;
  readonly limit: number;
}

/** Throws `send_limit_exceeded` where the account was used as often in the last day as it may be. */
export async function requireDayLimit(
  tx: Kysely<CommTables>,
  table: RecordTable,
  { tenant, account, created_at: at }: Pick<MessageRow, 'tenant' | 'account' | 'created_at'>,
  perDay: number,
): Promise<void> {
  const { n } = await tx
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('tenant', '=', tenant)
    .where('account', '=', account)
    .where('created_at', '>', at - DAY_MS)
    .executeTakeFirstOrThrow();
  if (Number(n) < perDay) return;
  const what = table === 'comm_calls' ? 'made calls' : 'sent messages';
  throw commError('send_limit_exceeded', `The account has ${what} ${perDay} times in the last day.`, { retryAfterMs: 3_600_000 });
}

export class CommStore {
  readonly #storage: CommStorage;

  constructor(storage: CommStorage) {
    this.#storage = storage;
  }

  accounts(scope: TenantScope): Promise<AccountRow[]> {
    return this.#storage.read(scope, (db) =>
      db.selectFrom('comm_accounts').selectAll().where('tenant', '=', scope.tenant).orderBy('name').execute(),
    );
  }

  account(scope: TenantScope, id: string): Promise<AccountRow | undefined> {
    return this.#storage.read(scope, (db) =>
      db.selectFrom('comm_accounts').selectAll().where('tenant', '=', scope.tenant).where('id', '=', id).executeTakeFirst(),
    );
  }

  /** Throws `account_exists`. */
  async saveAccount(scope: TenantScope, row: Omit<AccountRow, 'tenant'>): Promise<void> {
    const { id, created_at: createdAt, ...changes } = row;
    await this.#storage.write(scope, async (tx) => {
      const same = await tx
        .selectFrom('comm_accounts')
        .select('id')
        .where('tenant', '=', scope.tenant)
        .where('name', '=', row.name)
        .executeTakeFirst();
      if (same !== undefined && same.id !== id)
        throw commError('account_exists', `There is an account ${JSON.stringify(row.name)}.`, { param: 'name' });
      await tx
        .insertInto('comm_accounts')
        .values({ tenant: scope.tenant, id, created_at: createdAt, ...changes })
        .onConflict((conflict) => conflict.columns(['tenant', 'id']).doUpdateSet(changes))
        .execute();
    });
  }

  async removeAccount(scope: TenantScope, id: string): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db.deleteFrom('comm_accounts').where('tenant', '=', scope.tenant).where('id', '=', id),
    ]);
  }

  /**
   * The message, or the first one of the same idempotency key. Throws `idempotency_key_reused` where that was another one, and `send_limit_exceeded`.
   */
  async addMessage(
    scope: TenantScope,
    row: Omit<MessageRow, 'tenant'>,
    perDay: number,
  ): Promise<{ message: MessageRow; isNew: boolean }> {
    const { tenant } = scope;
    return await this.#storage.write(scope, async (tx) => {
      if (row.idempotency_key !== null) {
        const first = await tx
          .selectFrom('comm_messages')
          .selectAll()
          .where('tenant', '=', tenant)
          .where('owner', '=', row.owner)
          .where('idempotency_key', '=', row.idempotency_key)
          .executeTakeFirst();
        if (first !== undefined && first.hash !== row.hash)
          throw commError('idempotency_key_reused', 'The idempotency key belongs to another message.', {
            param: 'idempotency_key',
          });
        if (first !== undefined) return { message: first, isNew: false };
      }
      const message = { tenant, ...row };
      await requireDayLimit(tx, 'comm_messages', message, perDay);
      await tx.insertInto('comm_messages').values(message).execute();
      return { message, isNew: true };
    });
  }

  /** Newest first. */
  messages(scope: TenantScope, { owner, after, limit }: RecordPage): Promise<MessageRow[]> {
    return this.#storage.read(scope, (db) => {
      let query = db.selectFrom('comm_messages').selectAll().where('tenant', '=', scope.tenant);
      if (owner !== undefined) query = query.where('owner', '=', owner);
      if (after !== '') query = query.where('id', '<', after);
      return query.orderBy('id', 'desc').limit(limit).execute();
    });
  }

  message(scope: TenantScope, id: string): Promise<MessageRow | undefined> {
    return this.#storage.read(scope, (db) =>
      db.selectFrom('comm_messages').selectAll().where('tenant', '=', scope.tenant).where('id', '=', id).executeTakeFirst(),
    );
  }

  /** Undefined: it is in none of these states any more. */
  async changeMessage(
    scope: TenantScope,
    id: string,
    from: readonly MessageRow['state'][],
    changes: Partial<MessageRow>,
  ): Promise<MessageRow | undefined> {
    const [changed] = await this.#storage.writeUnit(scope, (db) => [
      db
        .updateTable('comm_messages')
        .set(changes)
        .where('tenant', '=', scope.tenant)
        .where('id', '=', id)
        .where('state', 'in', from)
        .returningAll(),
    ]);
    return changed?.rows[0] as MessageRow | undefined;
  }

  /** Those of the node that are on their way, of all tenants, and have not changed since. */
  open(node: string, before: number): Promise<MessageRow[]> {
    return this.#storage.read(everyMessage(), (db) =>
      db
        .selectFrom('comm_messages')
        .selectAll()
        .where('node', '=', node)
        .where('state', 'in', ['queued', 'sending'])
        .where('updated_at', '<', before)
        .orderBy('updated_at')
        .limit(500)
        .execute(),
    );
  }

  /** Removes records of messages and of calls. */
  async removeBefore(time: number): Promise<void> {
    for (const table of ['comm_messages', 'comm_calls'] as const)
      await deleteInBatches(this.#storage, (db, limit) => {
        const old = sql`select tenant, id from ${sql.table(table)} where created_at < ${time} limit ${limit}`;
        return db.deleteFrom(table).where(sql<boolean>`(tenant, id) in (${old})`);
      });
  }

  async eraseTenant(scope: TenantScope): Promise<void> {
    await this.#storage.writeUnit(scope, (db) =>
      (['comm_accounts', 'comm_messages', 'comm_calls'] as const).map((table) =>
        db.deleteFrom(table).where('tenant', '=', scope.tenant),
      ),
    );
  }

  async eraseAccount(everyone: SystemScope, accountId: string): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) =>
      (['comm_messages', 'comm_calls'] as const).map((table) => db.deleteFrom(table).where('owner', '=', `user:${accountId}`)),
    );
  }
}
