/** The module's part of the migrations that are recorded under `data`, which it was in before. */
import { column, type Migration } from '../../platform/storage/index.ts';

export const filesMigrations: readonly Migration[] = [
  {
    id: 2,
    name: 'create blobs',
    up: async (schema) => {
      await schema.tenantTable('data_blobs', {
        columns: { sha256: column.text(), bytes: column.integer(), stored_at: column.timestamp() },
        primaryKey: ['tenant', 'sha256'],
      });
      await schema.index('data_blobs_by_age', 'data_blobs', ['stored_at']);
    },
  },
  {
    id: 3,
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
  },
  {
    id: 4,
    name: 'create files',
    up: async (schema) => {
      await schema.tenantTable('data_files', {
        columns: {
          id: column.id(),
          subject: column.id(),
          file_name: column.text(),
          purpose: column.text(),
          bytes: column.integer(),
          sha256: column.text(),
          created_at: column.timestamp(),
          expires_at: column.timestamp({ nullable: true }),
        },
        primaryKey: ['tenant', 'id'],
      });
      await schema.index('data_files_by_hash', 'data_files', ['tenant', 'sha256']);
      await schema.index('data_files_expiring', 'data_files', ['expires_at'], { where: 'expires_at is not null' });
    },
  },
  // The bytes themselves, where several nodes share the database.
  {
    id: 6,
    name: 'create parts of blobs',
    up: async (schema) => {
      await schema.tenantTable('data_blob_parts', {
        columns: { sha256: column.text(), seq: column.integer(), content: column.blob() },
        primaryKey: ['tenant', 'sha256', 'seq'],
      });
    },
  },
  // A file that was stored before is of no credential.
  {
    id: 8,
    name: 'note with which credential a file was stored',
    up: async (schema) => {
      await schema.addColumn('data_files', 'credential', column.id({ nullable: true }));
    },
  },
];
