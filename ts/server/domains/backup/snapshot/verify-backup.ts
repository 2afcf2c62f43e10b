/** Proves a backup by restoring it into a scratch folder, where its database is opened and counted. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StateFile } from '../../../platform/module/state-file.ts';
import { inspectSnapshot, StorageError } from '../../../platform/storage/index.ts';
import { damaged } from '../errors.ts';
import { DATABASE_PATH, type Manifest } from '../repository/manifest.ts';
import type { Repository } from '../repository/repository.ts';
import { type ExtractOptions, extractBackup } from './extract-backup.ts';

export interface VerifyOptions extends ExtractOptions {
  /** Of the node: their rows are compared with the files; absent: none are. */
  readonly stateFiles?: readonly StateFile[];
}

/** `missing`: files that rows of the database name and the backup has not, as paths of it. */
export type VerifiedBackup = Manifest & { readonly missing: readonly string[] };

/** `scratch` is an existing folder with room for the whole backup. Throws `backup_damaged` with what is wrong. */
export async function verifyBackup(
  repository: Repository,
  id: string,
  scratch: string,
  options: VerifyOptions = {},
): Promise<VerifiedBackup> {
  const manifest = await repository.manifests.get(id, repository.sealing);
  return { ...manifest, missing: await proveBackup(repository, manifest, scratch, options) };
}

/** The same of a backup that need not be listed yet. Resolves to the missing files. */
export async function proveBackup(
  repository: Repository,
  manifest: Manifest,
  scratch: string,
  { stateFiles = [], ...options }: VerifyOptions = {},
): Promise<string[]> {
  const folder = join(scratch, `verify-${randomBytes(8).toString('hex')}`);
  try {
    await extractBackup(repository, manifest, (path) => join(folder, path), options);
    return await checkDatabase(join(folder, DATABASE_PATH), manifest, stateFiles);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Throws `backup_damaged` unless it is a sound database with the rows that the manifest counts. Resolves to missing files. */
export async function checkDatabase(
  file: string,
  { tables, files }: Pick<Manifest, 'tables' | 'files'>,
  stateFiles: readonly StateFile[] = [],
): Promise<string[]> {
  const referring = stateFiles.flatMap(({ name, rows }) => (rows === undefined ? [] : [{ name, rows }]));
  const keys = referring.map(({ rows: { table, columns, unless } }) => ({ table, columns, unless }));
  const found = await inspectSnapshot(file, keys).catch((error: unknown) => {
    throw error instanceof StorageError ? damaged(`The database of the backup cannot be opened: ${error.message}`, error) : error;
  });
  if (found.problems.length > 0) throw damaged(`The database of the backup is damaged: ${found.problems[0]}.`);
  const names = new Set([...Object.keys(tables), ...Object.keys(found.tables)]);
  for (const name of names) {
    const [expected, rows] = [tables[name], found.tables[name]];
    if (expected !== rows)
      throw damaged(`Table ${name} has ${rows ?? 'no'} rows, and the manifest counts ${expected ?? 'none'}.`);
  }
  const there = new Set(files.map(({ path }) => path));
  const wanted = referring.flatMap(({ name, rows }, n) => (found.keys[n] ?? []).map((key) => `data/${name}/${rows.pathOf(key)}`));
  return wanted.filter((path) => !there.has(path));
}
