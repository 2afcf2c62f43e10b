/** What maintenance needs of all tenants' uploads. */
import type { Storage, StorageAccess, SystemScope, TenantScope } from '../../../../platform/storage/index.ts';
import type { UploadTables } from '../../tables.ts';
import type { Upload } from '../upload.ts';
import { toUpload } from './upload-store.ts';

interface OwnedUpload extends Upload {
  tenant: string;
  subject: string;
}

const STEP = 200;

export class UploadSweepStore {
  readonly #access: StorageAccess<UploadTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<UploadTables>();
  }

  /** Removes the rows of what has expired and returns the ids. */
  async removeExpired(scope: SystemScope, nowMs: number): Promise<string[]> {
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_uploads')
        .select(['tenant', 'id'])
        .where('expires_at', '<=', nowMs)
        .orderBy('expires_at')
        .limit(STEP)
        .execute(),
    );
    const removed: string[] = [];
    for (const { tenant, id } of rows) if (await this.#removeExpired(scope, tenant, id, nowMs)) removed.push(id);
    return removed;
  }

  /** Removes the rows of some of the tenant's uploads and returns the ids. */
  async removeSome(scope: TenantScope): Promise<string[]> {
    return await this.#access.write(scope, async (tx) => {
      const rows = await tx.selectFrom('data_uploads').select('id').where('tenant', '=', scope.tenant).limit(STEP).execute();
      const ids = rows.map(({ id }) => id);
      if (ids.length === 0) return ids;
      await tx.deleteFrom('data_upload_chunks').where('tenant', '=', scope.tenant).where('upload_id', 'in', ids).execute();
      await tx.deleteFrom('data_uploads').where('tenant', '=', scope.tenant).where('id', 'in', ids).execute();
      return ids;
    });
  }

  /** False: it was continued meanwhile. */
  async #removeExpired(scope: SystemScope, tenant: string, id: string, nowMs: number): Promise<boolean> {
    return await this.#access.write(scope, async (tx) => {
      const upload = tx.deleteFrom('data_uploads').where('tenant', '=', tenant).where('id', '=', id);
      const [result] = await upload.where('expires_at', '<=', nowMs).execute();
      if (Number(result?.numDeletedRows ?? 0) === 0) return false;
      await tx.deleteFrom('data_upload_chunks').where('tenant', '=', tenant).where('upload_id', '=', id).execute();
      return true;
    });
  }

  /** Streams that were received to their end and handed to nobody. */
  async listWhole(scope: SystemScope): Promise<OwnedUpload[]> {
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_uploads')
        .selectAll()
        .where('protocol', '=', 'tus')
        .where('outcome', 'is', null)
        .whereRef('received_bytes', '=', 'bytes')
        .limit(STEP)
        .execute(),
    );
    return rows.map((row) => ({ ...toUpload(row), tenant: row.tenant, subject: row.subject }));
  }

  /** Of the given hashes, those of the tenant's uploads that are whole and were handed to nobody yet. */
  async listOpenHashes(scope: TenantScope, hashes: readonly string[]): Promise<Set<string>> {
    if (hashes.length === 0) return new Set();
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_uploads')
        .select('content_sha256')
        .where('tenant', '=', scope.tenant)
        .where('outcome', 'is', null)
        .where('content_sha256', 'in', [...hashes])
        .execute(),
    );
    return new Set(rows.flatMap(({ content_sha256: hash }) => (hash === null ? [] : [hash])));
  }

  /** Of the given ids, those that have a row. */
  async findKnown(scope: SystemScope, ids: readonly string[]): Promise<Set<string>> {
    if (ids.length === 0) return new Set();
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_uploads')
        .select('id')
        .where('id', 'in', [...ids])
        .execute(),
    );
    return new Set(rows.map(({ id }) => id));
  }
}
