import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../scripts/setup/paths.mjs';

/** A folder of the cache in which each file appears under the given name (`NAME.gguf`); the same paths give the same folder. */
export function modelFolder(models: Readonly<Record<string, string>>): string {
  const digest = createHash('sha256').update(JSON.stringify(models)).digest('hex').slice(0, 12);
  const folder = join(cacheFolder(), 'bench', digest);
  mkdirSync(folder, { recursive: true });
  for (const [name, file] of Object.entries(models)) link(file, join(folder, `${name}.gguf`));
  return folder;
}

/** A hard link looks like a file of its own to every server; on another file system it has to be a symbolic one. */
function link(file: string, path: string): void {
  if (isSameFile(file, path)) return;
  rmSync(path, { force: true });
  try {
    linkSync(file, path);
  } catch {
    symlinkSync(file, path);
  }
}

/** A hard link to a file that has since been replaced keeps the old one. */
function isSameFile(file: string, path: string): boolean {
  const [wanted, linked] = [statSync(file), statSync(path, { throwIfNoEntry: false })];
  return linked?.ino === wanted.ino && linked.dev === wanted.dev;
}
