/** The policies of tenants on disk. */
import type { TenantScope } from '../../../platform/storage/index.ts';
import { type EdgeStorage, within } from '../tables.ts';
import { DEFAULT_POLICY, type Policy } from './policy.ts';

export class PolicyStore {
  readonly #storage: EdgeStorage;

  constructor(storage: EdgeStorage) {
    this.#storage = storage;
  }

  async get(scope: TenantScope): Promise<Policy> {
    const row = await this.#storage.read(scope, (db) =>
      db.selectFrom('edge_policies').select('policy').where(within(scope)).executeTakeFirst(),
    );
    return row === undefined ? DEFAULT_POLICY : (JSON.parse(row.policy) as Policy);
  }

  async set(scope: TenantScope, policy: Policy, now: number): Promise<void> {
    const row = { policy: JSON.stringify(policy), updated_at: now };
    await this.#storage.writeUnit(scope, (db) => [
      db
        .insertInto('edge_policies')
        .values({ tenant: scope.tenant, ...row })
        .onConflict((conflict) => conflict.columns(['tenant']).doUpdateSet(row)),
    ]);
  }
}
