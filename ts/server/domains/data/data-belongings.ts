/** Knowledge of tenants that are deleted. */
import type { Belongings } from '../../platform/module/belongings.ts';
import type { SystemScope, TenantScope } from '../../platform/storage/index.ts';
import { accountSubject } from '../files/index.ts';
import type { KnowledgeService } from './service.ts';
import type { BaseStore } from './store/base-store.ts';
import type { OwnedBaseStore } from './store/owned-base-store.ts';
import type { Sweep } from './sweep.ts';

export interface DataBelongingsParts {
  readonly service: KnowledgeService;
  readonly bases: BaseStore;
  readonly ownedBases: OwnedBaseStore;
  readonly sweep: Sweep;
}

export class DataBelongings implements Belongings {
  readonly #parts: DataBelongingsParts;

  constructor(parts: DataBelongingsParts) {
    this.#parts = parts;
  }

  async holdsAny(scope: TenantScope): Promise<boolean> {
    const [base] = await this.#parts.bases.page(scope, { limit: 1, order: 'asc' });
    return base !== undefined;
  }

  async eraseTenant(scope: TenantScope): Promise<void> {
    const { service, bases, ownedBases, sweep } = this.#parts;
    for (const base of [...(await bases.list(scope)), ...(await ownedBases.list(scope))]) await service.removeBase(scope, base);
    // Removes the rows of the bases, and with them what their blobs are needed for.
    await sweep.run();
  }

  /** The files of its conversations; what it added to knowledge bases is the tenant's. */
  async eraseAccount(everyone: SystemScope, accountId: string): Promise<void> {
    await this.#parts.sweep.eraseOwner(everyone, accountSubject(accountId));
  }
}
