/** Knowledge, files and uploads of tenants that are deleted. */
import type { Belongings } from '../../platform/module/belongings.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import type { FileStore } from './files/file-store.ts';
import type { KnowledgeService } from './service.ts';
import type { BaseStore } from './store/base-store.ts';
import type { Sweep } from './sweep.ts';
import type { UploadSweep } from './uploads/upload-sweep.ts';

export interface DataBelongingsParts {
  readonly service: KnowledgeService;
  readonly bases: BaseStore;
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
    const { service, bases, files, sweep, uploads } = this.#parts;
    for (const { namespace } of await bases.list(scope)) await service.remove(scope, namespace);
    await files.removeAll(scope);
    // Removes the rows of the bases, and with them what their blobs are needed for.
    await sweep.run();
    await uploads.eraseTenant(scope);
  }
}
