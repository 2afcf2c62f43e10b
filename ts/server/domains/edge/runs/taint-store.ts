/** Conversations into which text of others has come: in them, what acts asks again. */
import type { TenantScope } from '../../../platform/storage/index.ts';
import { type EdgeStorage, within } from '../tables.ts';

export class TaintStore {
  readonly #storage: EdgeStorage;

  constructor(storage: EdgeStorage) {
    this.#storage = storage;
  }

  async has(scope: TenantScope, owner: string, conversation: string): Promise<boolean> {
    const row = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('edge_taints')
        .select('conversation')
        .where(within(scope))
        .where('owner', '=', owner)
        .where('conversation', '=', conversation)
        .executeTakeFirst(),
    );
    return row !== undefined;
  }

  async add(scope: TenantScope, owner: string, conversation: string, now: number): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db
        .insertInto('edge_taints')
        .values({ tenant: scope.tenant, owner, conversation, created_at: now })
        .onConflict((conflict) => conflict.columns(['tenant', 'owner', 'conversation']).doNothing()),
    ]);
  }
}
