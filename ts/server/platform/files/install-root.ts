import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder that holds package.json: a checkout, whose sources lie some folders below it, or an installed package, whose program does.
 * Throws when there is none above the running file.
 */
export const INSTALL_ROOT = findInstallRoot(import.meta.dirname);

function findInstallRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error(`no package.json lies above ${import.meta.dirname}: install the package again`);
  return findInstallRoot(parent);
}
