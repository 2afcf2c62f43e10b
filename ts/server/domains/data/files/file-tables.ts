/** Which files a tenant has stored by OpenAI's routes. Their bytes are blobs. */
import { column, type Migration } from '../../../platform/storage/index.ts';

export interface FileTables {
  data_files: FileRow;
}

export interface FileRow {
  tenant: string;
  /** `file-` and a time-ordered id without hyphens. */
  id: string;
  /** Who stored it. */
  subject: string;
  /** Id of the credential that it was stored with. */
  credential: string | null;
  file_name: string;
  purpose: string;
  bytes: number;
  sha256: string;
  created_at: number;
  expires_at: number | null;
}

/** The module numbers it among its own. */
export const createFiles: Omit<Migration, 'id'> = {
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
};

/** The module numbers it among its own. A file that was stored before is of no credential. */
export const addFileCredential: Omit<Migration, 'id'> = {
  name: 'note with which credential a file was stored',
  up: async (schema) => {
    await schema.addColumn('data_files', 'credential', column.id({ nullable: true }));
  },
};
