import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Copies one file, with the folders above it; permissions do not depend on whoever builds. */
export function copyFile(from: string, to: string, mode = 0o644): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, mode);
}

export function writeFile(to: string, content: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, content, { mode });
  chmodSync(to, mode);
}
