/** The rows of tenants and accounts that are deleted. */
import type { Belongings } from '../../platform/module/belongings.ts';
import type { Storage, SystemScope, TenantScope } from '../../platform/storage/index.ts';
import { accountSubject } from './owner.ts';
import { ErasureStore } from './store/erasure-store.ts';

export class ConversationBelongings implements Belongings {
  readonly #erasure: ErasureStore;

  constructor(storage: Storage) {
    // The files of the same tenants and accounts are erased by the module that keeps them, which is told as well.
    this.#erasure = new ErasureStore(storage);
  }

  holdsAny(scope: TenantScope): Promise<boolean> {
    return this.#erasure.holdsAny(scope);
  }

  async eraseTenant(scope: TenantScope): Promise<void> {
    await this.#erasure.detachAll(scope, { column: 'tenant', value: scope.tenant });
    await this.#erasure.removeDetached(scope);
  }

  async eraseAccount(everyone: SystemScope, accountId: string): Promise<void> {
    await this.#erasure.detachAll(everyone, { column: 'subject', value: accountSubject(accountId) });
    await this.#erasure.removeDetached(everyone);
  }
}
