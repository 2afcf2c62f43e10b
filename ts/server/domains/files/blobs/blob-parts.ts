/**
 * The bytes of blobs in the database, for nodes that share it: what was uploaded to one of them can be read by each. Parts are written once, and
 * are whole when the blob's row is there.
 */
import { open } from 'node:fs/promises';
import type { Storage, StorageAccess, TenantScope } from '../../../platform/storage/index.ts';
import type { BlobTables } from '../tables.ts';

const PART_BYTES = 1024 * 1024;

export class BlobParts {
  readonly #access: StorageAccess<BlobTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<BlobTables>();
  }

  /** Writes what is not there yet. */
  async write(scope: TenantScope, sha256: string, path: string): Promise<void> {
    const { tenant } = scope;
    const first = await this.#firstMissing(scope, sha256);
    const file = await open(path, 'r');
    try {
      for (let seq = first; ; seq++) {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(PART_BYTES), 0, PART_BYTES, seq * PART_BYTES);
        if (bytesRead === 0) return;
        const content = buffer.subarray(0, bytesRead);
        await this.#access.writeUnit(scope, (db) => [
          db
            .insertInto('data_blob_parts')
            .values({ tenant, sha256, seq, content })
            .onConflict((conflict) => conflict.columns(['tenant', 'sha256', 'seq']).doNothing()),
        ]);
      }
    } finally {
      await file.close();
    }
  }

  async *read(scope: TenantScope, sha256: string): AsyncGenerator<Uint8Array> {
    for (let seq = 0; ; seq++) {
      const row = await this.#access.read(scope, (db) =>
        db
          .selectFrom('data_blob_parts')
          .select('content')
          .where('tenant', '=', scope.tenant)
          .where('sha256', '=', sha256)
          .where('seq', '=', seq)
          .executeTakeFirst(),
      );
      if (row === undefined) return;
      yield row.content;
    }
  }

  /** Parts come in their order; where some in the middle are gone, another node has removed the blob meanwhile. */
  async #firstMissing(scope: TenantScope, sha256: string): Promise<number> {
    const row = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_blob_parts')
        .select(({ fn }) => [fn.countAll<number>().as('n'), fn.max('seq').as('last')])
        .where('tenant', '=', scope.tenant)
        .where('sha256', '=', sha256)
        .executeTakeFirstOrThrow(),
    );
    return Number(row.n) === Number(row.last ?? -1) + 1 ? Number(row.n) : 0;
  }
}
