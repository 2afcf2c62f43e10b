/** Calls on disk: each is there before the first byte, and has an end. */
import type { TenantScope } from '../../../platform/storage/index.ts';
import { type RecordPage, requireDayLimit } from '../comm-store.ts';
import { type CallRow, type CommStorage, everyMessage } from '../tables.ts';

const OPEN = ['calling', 'ringing', 'talking'] as const;

export class CallStore {
  readonly #storage: CommStorage;

  constructor(storage: CommStorage) {
    this.#storage = storage;
  }

  /** Throws `send_limit_exceeded`. */
  async add(scope: TenantScope, row: Omit<CallRow, 'tenant'>, perDay: number): Promise<void> {
    const call = { tenant: scope.tenant, ...row };
    await this.#storage.write(scope, async (tx) => {
      await requireDayLimit(tx, 'comm_calls', call, perDay);
      await tx.insertInto('comm_calls').values(call).execute();
    });
  }

  /** Newest first. */
  list(scope: TenantScope, { owner, after, limit }: RecordPage): Promise<CallRow[]> {
    return this.#storage.read(scope, (db) => {
      let query = db.selectFrom('comm_calls').selectAll().where('tenant', '=', scope.tenant);
      if (owner !== undefined) query = query.where('owner', '=', owner);
      if (after !== '') query = query.where('id', '<', after);
      return query.orderBy('id', 'desc').limit(limit).execute();
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
}
