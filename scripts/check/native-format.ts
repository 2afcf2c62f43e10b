import { globSync } from 'node:fs';
import type { Outcome } from './check.ts';
import { runCommand } from './command.ts';

export const nativeFiles = () => globSync('native/**/*.{h,cpp}').sort();

/** clang-format is not on npm in a shape worth having: outside CI a machine without it skips this check and says so. */
export async function checkNativeFormat(): Promise<Outcome> {
  try {
    return await runCommand('clang-format', ['--dry-run', '--Werror', ...nativeFiles()]);
  } catch (error) {
    if (process.env.CI || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { status: 'skipped', reason: 'clang-format is missing (Debian: clang-format, Fedora: clang-tools-extra)' };
  }
}
