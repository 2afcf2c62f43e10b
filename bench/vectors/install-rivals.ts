/** Installs the libraries that ours is compared with, as rivals/package-lock.json pins them, into the cache. */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../scripts/setup/paths.mjs';
import { runProgram } from '../program.ts';

const pins = join(import.meta.dirname, 'rivals');
const lock = 'package-lock.json';

export function rivalsFolder(): string {
  const digest = createHash('sha256')
    .update(readFileSync(join(pins, lock)))
    .digest('hex')
    .slice(0, 12);
  return join(cacheFolder(), 'bench-rivals', digest);
}

/** Idempotent. hnswlib-node is compiled, so that this takes up to a minute. Throws what npm says. */
export async function installRivals(): Promise<void> {
  const folder = rivalsFolder();
  if (existsSync(join(folder, 'node_modules', '.package-lock.json'))) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of ['package.json', lock]) cpSync(join(pins, file), join(folder, file));
  await runProgram('npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts=false']);
}
