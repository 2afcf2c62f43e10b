/** Backups in a folder of this machine. */

import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DomainError } from '../../../platform/errors/domain-error.ts';
import { syncFolder } from '../../../platform/files/atomic-file.ts';
import { backupError, backupErrors, damaged } from '../errors.ts';
import { type BackupFiles, FILE_NAME, type ListedFile } from './backup-files.ts';
import { makeFolder } from './make-folder.ts';
import { writeRemedy } from './write-remedy.ts';

export class FolderFiles implements BackupFiles {
  readonly shown: string;
  readonly parallel = 1;
  readonly #touchedFolders = new Set<string>();

  constructor(folder: string) {
    this.shown = folder;
  }

  /** Never waits at a pipe and never reads more than it should. */
  async read(path: string, maxBytes: number): Promise<Buffer | undefined> {
    const file = await open(join(this.shown, path), constants.O_RDONLY | constants.O_NONBLOCK).catch(this.#ifAbsent);
    if (file === undefined) return undefined;
    try {
      const facts = await file.stat();
      if (!facts.isFile() || facts.size > maxBytes) throw damaged(`${path} is no file of a backup, or too large for one.`);
      return await file.readFile();
    } catch (error) {
      throw this.#unusable(error);
    } finally {
      await file.close();
    }
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    const target = join(this.shown, path);
    const part = `${target}.${randomUUID()}.part`;
    try {
      await makeFolder(dirname(target));
      await writeSynced(part, bytes);
      await rename(part, target);
    } catch (error) {
      await rm(part, { force: true });
      throw this.#unusable(error);
    }
    for (let folder = dirname(target); folder.startsWith(this.shown); folder = dirname(folder)) this.#touchedFolders.add(folder);
  }

  async renew(path: string): Promise<boolean> {
    const now = new Date();
    const done = await utimes(join(this.shown, path), now, now).then(() => true, this.#ifAbsent);
    return done === true;
  }

  async list(folder: string): Promise<ListedFile[]> {
    const top = join(this.shown, folder);
    const entries = (await readdir(top, { withFileTypes: true }).catch(this.#ifAbsent)) ?? [];
    const found: ListedFile[] = [];
    for (const entry of entries) {
      const path = `${folder}/${entry.name}`;
      if (!FILE_NAME.test(entry.name)) continue;
      if (entry.isDirectory()) found.push(...(await this.list(path)));
      if (!entry.isFile()) continue;
      const facts = await stat(join(this.shown, path)).catch(this.#ifAbsent);
      if (facts !== undefined) found.push({ path, modifiedAt: facts.mtimeMs });
    }
    return found;
  }

  async delete(path: string): Promise<void> {
    const target = join(this.shown, path);
    await rm(target, { force: true }).catch((error: unknown) => {
      throw this.#unusable(error);
    });
    this.#touchedFolders.add(dirname(target));
  }

  async sync(): Promise<void> {
    try {
      for (const folder of this.#touchedFolders) await syncFolder(folder);
    } catch (error) {
      throw this.#unusable(error);
    }
    this.#touchedFolders.clear();
  }

  async close(): Promise<void> {}

  readonly #ifAbsent = (error: NodeJS.ErrnoException): undefined => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw this.#unusable(error);
  };

  #unusable(error: unknown): DomainError {
    if (backupErrors.has(error)) return error;
    const { message } = error as Error;
    const otherwise = 'Make the folder readable and writable for the user of the server, with room on its disk.';
    const remedy = writeRemedy(error, this.shown, otherwise);
    return backupError('destination_unusable', `The backup folder does not work: ${message}.`, remedy, error);
  }
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
