import { statfs } from 'node:fs/promises';
import { LibraryError } from '../library-error.ts';

/** Left free beside every model, so that a download never takes the last bytes of a database on the same disk. */
export const reserveBytes = 256 * 1024 * 1024;

export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Throws LibraryError no_space unless the folder's disk takes that many bytes more; returns the most that it takes. */
export async function checkDiskSpace(
  folder: string,
  neededBytes: number,
  free: (folder: string) => Promise<number> = freeBytes,
): Promise<number> {
  const availableBytes = (await free(folder)) - reserveBytes;
  if (neededBytes <= availableBytes) return availableBytes;
  const [needed, available] = [neededBytes, Math.max(0, availableBytes)].map((bytes) => `${(bytes / 1e9).toFixed(2)} GB`);
  throw new LibraryError(
    'no_space',
    `the model needs ${needed}, but ${folder} has room for ${available}`,
    'delete models (svc models rm) or set SVC_MODELS_DIR to a larger disk',
  );
}
