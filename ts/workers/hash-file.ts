/** A task of the worker pool: the SHA-256 of a file, read once. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';

const READ_BYTES = 1024 * 1024;

export interface HashedFile {
  /** Lowercase hexadecimal. */
  sha256: string;
  sizeBytes: number;
}

export function run({ path }: { path: string }): HashedFile {
  const hash = createHash('sha256');
  const buffer = new Uint8Array(READ_BYTES);
  const file = openSync(path, 'r');
  try {
    let sizeBytes = 0;
    for (let n = readSync(file, buffer); n > 0; n = readSync(file, buffer)) {
      hash.update(buffer.subarray(0, n));
      sizeBytes += n;
    }
    return { sha256: hash.digest('hex'), sizeBytes };
  } finally {
    closeSync(file);
  }
}
