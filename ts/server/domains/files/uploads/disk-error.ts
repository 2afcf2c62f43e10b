/** A full disk as the refusal that it is. Other failures of the disk stay what they are: faults of the server. */
import { statfs } from 'node:fs/promises';
import { uploadError } from '../errors.ts';

/** Left free, so that an upload never takes the last bytes of a database on the same disk. */
const RESERVE_BYTES = 256 * 1024 * 1024;

export type FreeBytes = (folder: string) => Promise<number>;

export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Throws `disk_full` unless the disk takes that many bytes more. */
export async function requireDiskSpace(folder: string, sizeBytes: number, free: FreeBytes): Promise<void> {
  if (sizeBytes + RESERVE_BYTES <= (await free(folder))) return;
  throw uploadError(
    'disk_full',
    `The disk of the server has no space for ${sizeBytes} bytes more. Ask an administrator to make space, then retry.`,
  );
}

export function asDiskError(error: unknown): unknown {
  const { code } = error as { code?: unknown };
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  return uploadError(
    'disk_full',
    'The disk of the server is full, so these bytes were not stored. Ask an administrator to make space, then send them again.',
    {
      cause: error,
    },
  );
}
