/** Usage and quotas of tenants that are deleted, and quotas of accounts. The usage of an account stays its tenant's. */
import type { Belongings } from '../../platform/module/belongings.ts';
import type { SystemScope, TenantScope } from '../../platform/storage/index.ts';
import type { Quotas } from './quotas/quotas.ts';
import type { MeteringStorage } from './tables.ts';

export class MeteringBelongings implements Belongings {
  readonly #storage: MeteringStorage;
  readonly #quotas: Quotas;

  constructor(storage: MeteringStorage, quotas: Quotas) {
    this.#storage = storage;
    this.#quotas = quotas;
  }

  async eraseTenant(scope: TenantScope): Promise<void> {
    await this.#storage.writeUnit(scope, (db) =>
      (['metering_open', 'metering_usage', 'metering_quotas', 'metering_recent'] as const).map((table) =>
        db.deleteFrom(table).where('tenant', '=', scope.tenant),
      ),
    );
    await this.#quotas.refresh();
  }

  async eraseAccount(everyone: SystemScope, accountId: string): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [
      db.deleteFrom('metering_quotas').where('kind', '=', 'user').where('subject', '=', accountId),
    ]);
    await this.#quotas.refresh();
  }
}
