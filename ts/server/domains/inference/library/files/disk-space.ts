import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LibraryError } from './library-error.ts';

/** Left free beside every model, so that a download never takes the last bytes of a database on the same disk. */
const reserveBytes = 256 * 1024 * 1024;

export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Returns the bytes that models may still take, also where their folder is yet to be made. Undefined: it cannot be told. */
export async function spaceForModels(folder: string): Promise<number | undefined> {
  const free = await freeBytes(folder).catch(() => undefined);
  if (free !== undefined) return Math.max(0, free - reserveBytes);
  return dirname(folder) === folder ? undefined : spaceForModels(dirname(folder));
}

/** Throws LibraryError no_space unless the folder's disk takes that many bytes more; returns the most that it takes. */
export async function checkDiskSpace(
  folder: string,
  neededBytes: number,
  free: (folder: string) => Promise<number> = freeBytes,
): Promise<number> {
  const availableBytes = (await free(folder)) - reserveBytes;
  if (neededBytes <= availableBytes) return availableBytes;
  throw noSpace(`the model needs ${gigabytes(neededBytes)}, but ${folder} has room for ${gigabytes(availableBytes)}`);
}

export function noSpace(message: string, cause?: unknown): LibraryError {
  return new LibraryError('no_space', message, 'delete models (svc models rm) or set SVC_MODELS_DIR to a larger disk', cause);
}

/** Turns what a write threw into no_space where the disk is full or a quota is used up. */
export function asDiskError(error: unknown): unknown {
  const { code } = error as { code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT' ? noSpace('the disk of the models is full', error) : error;
}

export function gigabytes(bytes: number): string {
  return `${(Math.max(0, bytes) / 1e9).toFixed(2)} GB`;
}
