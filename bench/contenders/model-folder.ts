import { createHash } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../scripts/setup/paths.mjs';

/** A folder of the cache in which each file appears under the given name (`NAME.gguf`); the same files give the same folder. */
export function modelFolder(models: Readonly<Record<string, string>>): string {
  const digest = createHash('sha256').update(JSON.stringify(models)).digest('hex').slice(0, 12);
  const folder = join(cacheFolder(), 'bench', digest);
  mkdirSync(folder, { recursive: true });
  for (const [name, file] of Object.entries(models)) link(file, join(folder, `${name}.gguf`));
  return folder;
}

/** A hard link looks like a file of its own to every server; on another file system it has to be a symbolic one. */
function link(file: string, path: string): void {
  if (existsSync(path)) return;
  try {
    linkSync(file, path);
  } catch {
    symlinkSync(file, path);
  }
}
