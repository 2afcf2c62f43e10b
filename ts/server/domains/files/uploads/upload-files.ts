/** The bytes of uploads that are not complete: one file each in `data_dir/uploads`, named by the upload's id alone. */
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../../platform/files/atomic-file.ts';
import { isTimeOrderedId } from '../../../platform/time-ordered-id.ts';
import { uploadError } from '../errors.ts';
import { asDiskError, type FreeBytes, requireDiskSpace } from './disk-error.ts';

export class UploadFiles {
  readonly #folder: string;
  readonly #free: FreeBytes;

  constructor(folder: string, free: FreeBytes) {
    this.#folder = folder;
    this.#free = free;
  }

  pathOf(id: string): string {
    if (!isTimeOrderedId(id)) throw new RangeError('an upload’s file is named by its id');
    return join(this.#folder, id);
  }

  /** Throws `disk_full` where the whole file would not fit. On return its name is on disk. */
  async create(id: string, sizeBytes: number): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await requireDiskSpace(this.#folder, sizeBytes, this.#free);
    const file = await open(this.pathOf(id), 'wx', 0o600).catch((error: unknown) => {
      throw asDiskError(error);
    });
    await file.close();
    await syncFolder(this.#folder);
  }

  /** Runs `write` on the open file. What it throws for a full disk becomes `disk_full`. */
  async writing<T>(id: string, write: (file: FileHandle) => Promise<T>): Promise<T> {
    const file = await this.#open(id);
    try {
      return await write(file);
    } catch (error) {
      throw asDiskError(error);
    } finally {
      await file.close();
    }
  }

  async exists(id: string): Promise<boolean> {
    return (await stat(this.pathOf(id)).catch(() => undefined)) !== undefined;
  }

  async remove(id: string): Promise<void> {
    await rm(this.pathOf(id), { force: true });
  }

  /** Ids of all files that are there. */
  async list(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names.filter(isTimeOrderedId);
  }

  async #open(id: string): Promise<FileHandle> {
    try {
      return await open(this.pathOf(id), 'r+');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw uploadError(
        'upload_elsewhere',
        'The bytes of this upload are not on this node. Send it to the node where it began.',
        { cause: error },
      );
    }
  }
}
