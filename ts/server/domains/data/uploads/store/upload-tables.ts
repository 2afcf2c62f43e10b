import { column, type Migration } from '../../../../platform/storage/index.ts';

export interface UploadTables {
  data_uploads: UploadRow;
  data_upload_chunks: {
    tenant: string;
    upload_id: string;
    chunk_index: number;
    sha256: string;
  };
  /** Of the module's blobs, for the quota. */
  data_blobs: { tenant: string; bytes: number };
}

export interface UploadRow {
  tenant: string;
  id: string;
  subject: string;
  protocol: string;
  namespace: string;
  file_name: string;
  source: string;
  bytes: number;
  chunk_bytes: number;
  received_bytes: number;
  sha256: string | null;
  content_sha256: string | null;
  metadata: string | null;
  outcome: string | null;
  created_at: number;
  expires_at: number;
}

/** The module numbers it among its own, behind the blobs. */
export const createUploads: Omit<Migration, 'id'> = {
  name: 'create uploads',
  up: async (schema) => {
    await schema.tenantTable('data_uploads', {
      columns: {
        id: column.id(),
        subject: column.id(),
        protocol: column.text(),
        namespace: column.text(),
        file_name: column.text(),
        source: column.text(),
        bytes: column.integer(),
        chunk_bytes: column.integer(),
        received_bytes: column.integer(),
        sha256: column.text({ nullable: true }),
        content_sha256: column.text({ nullable: true }),
        metadata: column.text({ nullable: true }),
        outcome: column.json({ nullable: true }),
        created_at: column.timestamp(),
        expires_at: column.timestamp(),
      },
      primaryKey: ['tenant', 'id'],
    });
    await schema.index('data_uploads_by_expiry', 'data_uploads', ['expires_at']);
    await schema.tenantTable('data_upload_chunks', {
      columns: { upload_id: column.id(), chunk_index: column.integer(), sha256: column.text() },
      primaryKey: ['tenant', 'upload_id', 'chunk_index'],
      clustered: true,
    });
  },
};
