/** Knowledge, files and uploads of tenants that are deleted. */
import type { Belongings } from '../../platform/module/belongings.ts';
import type { SystemScope, TenantScope } from '../../platform/storage/index.ts';
import type { FileStore } from './files/file-store.ts';
import type { KnowledgeService } from './service.ts';
import type { BaseStore } from './store/base-store.ts';
import type { OwnedBaseStore } from './store/owned-base-store.ts';
import type { Sweep } from './sweep.ts';
import type { UploadSweep } from './uploads/upload-sweep.ts';
import { accountSubject } from './uploads/uploader.ts';

export interface DataBelongingsParts {
  readonly service: KnowledgeService;
  readonly bases: BaseStore;
  readonly ownedBases: OwnedBaseStore;
  readonly files: FileStore;
  readonly sweep: Sweep;
  readonly uploads: UploadSweep;
}

export class DataBelongings implements Belongings {
  readonly #parts: DataBelongingsParts;

  constructor(parts: DataBelongingsParts) {
    this.#parts = parts;
  }

  async holdsAny(scope: TenantScope): Promise<boolean> {
    const { bases, files } = this.#parts;
    const [base] = await bases.page(scope, { limit: 1, order: 'asc' });
    const [file] = await files.list(scope, { limit: 1, order: 'asc' }, Date.now());
    return base !== undefined || file !== undefined;
  }

  async eraseTenant(scope: TenantScope): Promise<void> {
    const { service, bases, ownedBases, files, sweep, uploads } = this.#parts;
    for (const base of [...(await bases.list(scope)), ...(await ownedBases.list(scope))]) await service.removeBase(scope, base);
    await files.removeAll(scope);
    // Removes the rows of the bases, and with them what their blobs are needed for.
    await sweep.run();
    await uploads.eraseTenant(scope);
  }

  /** The files of its conversations; what it added to knowledge bases is the tenant's. */
  async eraseAccount(everyone: SystemScope, accountId: string): Promise<void> {
    await this.#parts.sweep.eraseOwner(everyone, accountSubject(accountId));
  }
}
