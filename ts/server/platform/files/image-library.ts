/** Whether this installation decodes images and sounds: the minimal package leaves the library out. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { INSTALL_ROOT } from './install-root.ts';

export const NO_IMAGE_LIBRARY =
  'This installation decodes no images and sounds: the package svc-minimal leaves that out. Install the package svc.';

let isThere: boolean | undefined;

export function hasImageLibrary(): boolean {
  isThere ??= existsSync(join(INSTALL_ROOT, 'node_modules', 'sharp', 'package.json'));
  return isThere;
}
