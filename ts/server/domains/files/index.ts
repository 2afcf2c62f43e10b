/** Files: uploads that can be continued, blobs, stored files and the text of them, for modules that keep files of tenants. */
import { defineModule } from '../../platform/module/module.ts';
import { blobRows } from './blobs/blob-path.ts';
import { filesMigrations } from './migrations.ts';
import { filesSettings } from './settings.ts';

export type { BlobStore } from './blobs/blob-store.ts';
export { fileErrors } from './errors.ts';
export type { FilesApi } from './files-module.ts';
export { extractionErrors } from './reading/extraction-errors.ts';
export type { FileReader, ReadFile } from './reading/file-reader.ts';
export type { ArrivedFile, FileIntake } from './stored/file-intake.ts';
export type { FilePage, FileStore } from './stored/file-store.ts';
export { documentIdOf, PURPOSES, type Purpose, type StoredFile } from './stored/stored-file.ts';
export { accountSubject, type Uploader, uploaderOf } from './uploader.ts';
export type { UploadedFile, UploadOutcome, UploadTarget } from './uploads/upload.ts';

export const files = defineModule({
  name: 'files',
  recordedAs: 'data',
  settings: filesSettings,
  migrations: filesMigrations,
  // Uploads that are not complete are left out: their clients send them again.
  stateFiles: [{ name: 'blobs', kind: 'folder', rows: blobRows }],
  create: async (context) => (await import('./files-module.ts')).createFiles(context),
});
