import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';

export interface HashOptions {
  signal?: AbortSignal;
  /** Called with the bytes hashed so far. */
  onProgress?: (hashedBytes: number) => void;
}

/** SHA-256 of a file as lowercase hex, read as a stream. */
export async function hashFile(path: string, options: HashOptions = {}): Promise<string> {
  const hash = createHash('sha256');
  await feedHash(hash, path, options);
  return hash.digest('hex');
}

/** Feeds a whole file into a hash and returns how many bytes that were. */
export async function feedHash(hash: Hash, path: string, { signal, onProgress }: HashOptions = {}): Promise<number> {
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, ...(signal && { signal }) })) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    onProgress?.(bytes);
  }
  return bytes;
}
