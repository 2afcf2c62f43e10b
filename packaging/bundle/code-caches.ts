/** V8's compiled code of the bundled program, beside it. */
import { join } from 'node:path';
import { runTool } from '../run-tool.ts';

/** A cache for each way through the program: a command, and a start of the server. */
export const codeCacheProfiles = ['command', 'serve'] as const;

const seeds = ['--hash-seed=1', '--random-seed=1'];

/**
 * Writes the caches of a bundle below a folder that has what the program needs to start. `command`: the Node that will read them, and what
 * runs it here; another version of it would ignore them. Same bundle and same Node, same bytes.
 */
export async function writeCodeCaches(
  dist: string,
  [node = process.execPath, ...before]: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const writer = join(import.meta.dirname, 'write-code-cache.cjs');
  for (const profile of codeCacheProfiles) {
    await runTool(node, [...before, ...seeds, writer, dist, profile], { env, debianPackage: 'nodejs' });
  }
}
