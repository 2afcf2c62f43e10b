/** The mode and the decisions of tenants that are deleted. */
import type { Belongings } from '../../platform/module/belongings.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import type { Enforcement } from './enforcement.ts';
import type { SecurityStorage } from './tables.ts';

export class SecurityBelongings implements Belongings {
  readonly #storage: SecurityStorage;
  readonly #enforcement: Enforcement;

  constructor(storage: SecurityStorage, enforcement: Enforcement) {
    this.#storage = storage;
    this.#enforcement = enforcement;
  }

  async eraseTenant(scope: TenantScope): Promise<void> {
    const { tenant } = scope;
    await this.#storage.writeUnit(scope, (db) => [
      db.deleteFrom('security_decisions').where('tenant', '=', tenant),
      db.deleteFrom('security_enforcement').where('kind', '=', 'tenant').where('id', '=', tenant),
    ]);
    await this.#enforcement.refresh();
  }
}
