/** Puts a backup into the place of a node's data. The caller holds the lock of data_dir. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { commitSwap, decideSwap, finishSwap, openStaging } from '../../../platform/files/staged-swap.ts';
import type { StateFile } from '../../../platform/module/state-file.ts';
import { damaged } from '../errors.ts';
import { DATABASE_PATH, type Manifest } from '../repository/manifest.ts';
import type { Repository } from '../repository/repository.ts';
import { type ExtractOptions, extractBackup } from './extract-backup.ts';
import { checkDatabase } from './verify-backup.ts';

/** Where the configuration of the backed-up node goes: it may be another machine's, so an operator compares it. */
export const CONFIG_FOLDER = 'restored-config';
export const DATABASE_NAMES = ['svc.db', 'svc.db-wal', 'svc.db-shm'];

export interface RestoreTarget {
  readonly dataDir: string;
  /** What a restore may replace beside the database. */
  readonly stateFiles: readonly StateFile[];
  /** Throws for a database that this version cannot work with, before anything is replaced. */
  readonly admitDatabase?: (file: string) => Promise<void>;
  /**
   * Takes the SQLite file in where the database is another; absent: it becomes the database. `beforeUse` is called once all of it is there,
   * before anybody can work with that database.
   */
  readonly importDatabase?: (file: string, beforeUse: () => Promise<void>) => Promise<void>;
}

/**
 * Until this resolves, and after a kill at any moment, the old state is there or the new one, or a database that takes no work until the
 * restore was run again. Throws DomainError, StorageError.
 */
export async function restoreBackup(
  repository: Repository,
  id: string,
  target: RestoreTarget,
  options: ExtractOptions = {},
): Promise<Manifest> {
  const { manifest, database } = await stageBackup(repository, id, target, options);
  const { dataDir, importDatabase } = target;
  const names = replacedNames(target);
  if (importDatabase === undefined) await commitSwap(dataDir, names);
  else {
    await importDatabase(database, () => decideSwap(dataDir, names, DATABASE_NAMES));
    await finishSwap(dataDir);
  }
  return manifest;
}

/**
 * The same for the data folder of a process that serves from it: the old state is there until that process has let go of its lock, and the new
 * one for whoever takes it next.
 */
export async function decideRestore(
  repository: Repository,
  id: string,
  target: RestoreTarget,
  options: ExtractOptions = {},
): Promise<void> {
  await stageBackup(repository, id, target, options);
  options.signal?.throwIfAborted();
  await decideSwap(target.dataDir, replacedNames(target));
}

async function stageBackup(
  repository: Repository,
  id: string,
  target: RestoreTarget,
  options: ExtractOptions,
): Promise<{ manifest: Manifest; database: string }> {
  const manifest = await repository.manifests.get(id, repository.sealing);
  checkNames(
    manifest,
    target.stateFiles.map(({ name }) => name),
  );
  const staging = await openStaging(target.dataDir);
  await extractBackup(repository, manifest, (path) => locate(staging, path), options);
  const database = join(staging, 'svc.db');
  await checkDatabase(database, manifest);
  await target.admitDatabase?.(database);
  // Reading leaves an empty log beside the file, which is not to become the database's.
  for (const name of DATABASE_NAMES.slice(1)) await rm(join(staging, name), { force: true });
  return { manifest, database };
}

function replacedNames({ stateFiles }: RestoreTarget): string[] {
  return [...DATABASE_NAMES, ...stateFiles.map(({ name }) => name), CONFIG_FOLDER];
}

/** Whether the data folder has a node's state that a restore would replace. */
export async function hasState(dataDir: string, stateFiles: readonly StateFile[]): Promise<boolean> {
  const names = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.some((name) => name === 'svc.db' || stateFiles.some((file) => file.name === name));
}

/** A path of a backup lies here in a staging folder. */
export function locate(staging: string, path: string): string {
  if (path === DATABASE_PATH) return join(staging, 'svc.db');
  if (path.startsWith('config/')) return join(staging, CONFIG_FOLDER, path.slice('config/'.length));
  return join(staging, path.slice('data/'.length));
}

/** A backup brings only what a module of this program keeps: no other file of the folder can be replaced by it. */
export function checkNames({ files }: Manifest, names: readonly string[]): void {
  for (const { path } of files) {
    const [top, name = ''] = path.split('/');
    if (top === 'data' && !names.includes(name))
      throw damaged(`The backup holds ${JSON.stringify(name)}, which no module of this version keeps.`);
  }
}
