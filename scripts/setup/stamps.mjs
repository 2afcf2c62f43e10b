import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Tells whether files changed, from names, sizes and modification times alone: cheap enough for every start.
 * @param {string} root
 * @param {string[]} paths files and folders below root
 * @param {(path: string) => boolean} counts which of the files matter
 */
export function fingerprint(root, paths, counts = () => true) {
  const hash = createHash('sha256');
  for (const path of paths.flatMap((start) => listFiles(root, start)).filter(counts)) {
    const { size, mtimeMs } = statSync(join(root, path));
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/**
 * Files at or below a path, in one order.
 * @param {string} root
 * @param {string} start
 * @returns {string[]}
 */
export function listFiles(root, start) {
  const entry = statSync(join(root, start), { throwIfNoEntry: false });
  if (!entry) return [];
  if (!entry.isDirectory()) return [start];
  return readdirSync(join(root, start))
    .sort()
    .flatMap((name) => listFiles(root, join(start, name)));
}

/**
 * The value that a finished step left, or undefined.
 * @param {string} path
 */
export async function readStamp(path) {
  return readFile(path, 'utf8').catch(() => undefined);
}

/**
 * Records that a step is finished; whole or not at all.
 * @param {string} path
 * @param {string} value
 */
export async function writeStamp(path, value) {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, value);
  await rename(draft, path);
}
