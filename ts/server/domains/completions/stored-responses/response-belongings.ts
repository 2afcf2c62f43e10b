/** Responses of tenants and accounts that are deleted. */
import type { Belongings } from '../../../platform/module/belongings.ts';
import type { SystemScope, TenantScope } from '../../../platform/storage/index.ts';
import type { RetentionStore } from './retention-store.ts';

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
