/** Calls on disk: each is there before the first byte, and has an end. */
import { sql } from 'kysely';
import { deleteInBatches, type TenantScope } from '../../../platform/storage/index.ts';
import { commError } from '../errors.ts';
import { type CallRow, type CommStorage, everyMessage } from '../tables.ts';

const DAY_MS = 24 * 3_600_000;
const OPEN = ['calling', 'ringing', 'talking'] as const;

export class CallStore {
  readonly #storage: CommStorage;

  constructor(storage: CommStorage) {
    this.#storage = storage;
  }

  /** Throws `send_limit_exceeded`. */
  async add(scope: TenantScope, row: Omit<CallRow, 'tenant'>, perDay: number): Promise<void> {
    const { tenant } = scope;
    await this.#storage.write(scope, async (tx) => {
      const { n } = await tx
        .selectFrom('comm_calls')
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .where('tenant', '=', tenant)
        .where('account', '=', row.account)
        .where('created_at', '>', row.created_at - DAY_MS)
        .executeTakeFirstOrThrow();
      if (Number(n) >= perDay)
        throw commError('send_limit_exceeded', `The account has made ${perDay} calls in the last day.`, {
          retryAfterMs: 3_600_000,
        });
      await tx
        .insertInto('comm_calls')
        .values({ tenant, ...row })
        .execute();
    });
  }

  find(scope: TenantScope, id: string): Promise<CallRow | undefined> {
    return this.#storage.read(scope, (db) =>
      db.selectFrom('comm_calls').selectAll().where('tenant', '=', scope.tenant).where('id', '=', id).executeTakeFirst(),
    );
  }

  /** Does nothing for a call that has its end. */
  async change(scope: TenantScope, id: string, changes: Partial<CallRow>): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db
        .updateTable('comm_calls')
        .set(changes)
        .where('tenant', '=', scope.tenant)
        .where('id', '=', id)
        .where('state', 'in', OPEN),
    ]);
  }

  async keepTranscript(scope: TenantScope, id: string, sealed: string): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db.updateTable('comm_calls').set({ sealed_transcript: sealed }).where('tenant', '=', scope.tenant).where('id', '=', id),
    ]);
  }

  /** Ends those that a killed node left, of all tenants. */
  async endInterrupted(node: string, now: number): Promise<void> {
    await this.#storage.writeUnit(everyMessage(), (db) => [
      db
        .updateTable('comm_calls')
        .set({ state: 'failed', reason: 'the node stopped in the midst of the call', updated_at: now })
        .where('node', '=', node)
        .where('state', 'in', OPEN),
    ]);
  }

  async removeBefore(time: number): Promise<void> {
    await deleteInBatches(this.#storage, (db, limit) =>
      db
        .deleteFrom('comm_calls')
        .where(sql<boolean>`(tenant, id) in (select tenant, id from comm_calls where created_at < ${time} limit ${limit})`),
    );
  }
}
