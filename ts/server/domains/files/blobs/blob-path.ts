/** Where the file of a blob lies inside `data_dir/blobs`. */
import { createHash } from 'node:crypto';
import type { StateRows } from '../../../platform/module/state-file.ts';

/** For whoever compares the files of a backup with its rows. */
export const blobRows: StateRows = {
  table: 'data_blobs',
  columns: ['tenant', 'sha256'],
  unless: 'data_blob_parts',
  pathOf: ([tenant = '', sha256 = '']) => blobPath(tenant, sha256),
};

export function blobPath(tenant: string, sha256: string): string {
  return `${ownerOf(tenant)}/${sha256.slice(0, 2)}/${sha256}`;
}

/** Tenants' names may differ only in case, which some file systems do not tell apart. */
export function ownerOf(tenant: string): string {
  return createHash('sha256').update(tenant).digest('hex').slice(0, 32);
}
