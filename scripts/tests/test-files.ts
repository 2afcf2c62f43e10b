import { globSync } from 'node:fs';
import { join } from 'node:path';

/** Packages that were made, with copies of the checkout. */
const packagesMade = join('packaging', 'out', '/');
const folders = ['ts', 'native', 'scripts', 'models', 'test', 'bench', 'packaging'];

/** Every test file of a checkout, by name. */
export function listTestFiles(root: string): string[] {
  const found = folders.flatMap((folder) => globSync(join(folder, '**', '*.test.ts'), { cwd: root }));
  return found.filter((file) => !file.startsWith(packagesMade)).sort();
}

/** Those that load the addons, which run sanitised as well. */
export function nativeTestFiles(files: readonly string[]): string[] {
  return files.filter((file) => /^(native\/(llama|vector)\/test|ts\/server\/native)\/[^/]+$/.test(file));
}
