/** Which files a tenant keeps. The bytes lie in `data_dir/blobs`. */
import { column, type Migration } from '../../../platform/storage/index.ts';

export interface BlobTables {
  data_blobs: {
    tenant: string;
    sha256: string;
    bytes: number;
    /** When it was last stored. */
    stored_at: number;
  };
  data_blob_parts: { tenant: string; sha256: string; seq: number; content: Uint8Array };
}

/** The module numbers it among its own. */
export const createBlobs: Omit<Migration, 'id'> = {
  name: 'create blobs',
  up: async (schema) => {
    await schema.tenantTable('data_blobs', {
      columns: { sha256: column.text(), bytes: column.integer(), stored_at: column.timestamp() },
      primaryKey: ['tenant', 'sha256'],
    });
    await schema.index('data_blobs_by_age', 'data_blobs', ['stored_at']);
  },
};

/** The bytes themselves, where several nodes share the database. */
export const createBlobParts: Omit<Migration, 'id'> = {
  name: 'create parts of blobs',
  up: async (schema) => {
    await schema.tenantTable('data_blob_parts', {
      columns: { sha256: column.text(), seq: column.integer(), content: column.blob() },
      primaryKey: ['tenant', 'sha256', 'seq'],
    });
  },
};
