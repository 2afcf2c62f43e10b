/** Proves a backup by restoring it into a scratch folder, where its database is opened and counted. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inspectSnapshot, StorageError } from '../../../platform/storage/index.ts';
import { damaged } from '../errors.ts';
import { DATABASE_PATH, type Manifest } from '../repository/manifest.ts';
import type { Repository } from '../repository/repository.ts';
import { type ExtractOptions, extractBackup } from './extract-backup.ts';

/** `scratch` is an existing folder with room for the whole backup. Throws BackupError `backup_damaged` with what is wrong. */
export async function verifyBackup(
  repository: Repository,
  id: string,
  scratch: string,
  options: ExtractOptions = {},
): Promise<Manifest> {
  const manifest = await repository.manifests.get(id, repository.sealing);
  await proveBackup(repository, manifest, scratch, options);
  return manifest;
}

/** The same of a backup that need not be listed yet. */
export async function proveBackup(
  repository: Repository,
  manifest: Manifest,
  scratch: string,
  options: ExtractOptions = {},
): Promise<void> {
  const folder = join(scratch, `verify-${randomBytes(8).toString('hex')}`);
  try {
    await extractBackup(repository, manifest, (path) => join(folder, path), options);
    await checkDatabase(join(folder, DATABASE_PATH), manifest);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Throws BackupError `backup_damaged` unless it is a sound database with the rows that the manifest counts. */
export async function checkDatabase(file: string, { tables }: Pick<Manifest, 'tables'>): Promise<void> {
  const found = await inspectSnapshot(file).catch((error: unknown) => {
    throw error instanceof StorageError ? damaged(`The database of the backup cannot be opened: ${error.message}`, error) : error;
  });
  if (found.problems.length > 0) throw damaged(`The database of the backup is damaged: ${found.problems[0]}.`);
  const names = new Set([...Object.keys(tables), ...Object.keys(found.tables)]);
  for (const name of names) {
    const [expected, rows] = [tables[name], found.tables[name]];
    if (expected !== rows)
      throw damaged(`Table ${name} has ${rows ?? 'no'} rows, and the manifest counts ${expected ?? 'none'}.`);
  }
}
