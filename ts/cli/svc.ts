/** The `svc` program. */
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

// A start of a checkout strips the types of each module and compiles it, unless that is kept, so this comes before anything else is loaded.
const folder = compileCacheFolder(process.env);
if (folder !== undefined) enableCompileCache(folder);
const { main } = await import('./program.ts');

await main(process.argv.slice(2));

/** Where V8's compiled code of the checkout's modules is kept: the user's own cache, as nobody else may write what this process will run. */
function compileCacheFolder(env: NodeJS.ProcessEnv): string | undefined {
  if (env['NODE_COMPILE_CACHE'] !== undefined || env['NODE_DISABLE_COMPILE_CACHE'] !== undefined) return undefined;
  const named = env['SVC_CACHE_DIR'] ?? (env['XDG_CACHE_HOME'] && join(env['XDG_CACHE_HOME'], 'svc'));
  const folder = named || (env['HOME'] && join(homedir(), '.cache', 'svc'));
  return folder && isAbsolute(folder) ? join(folder, 'compiled') : undefined;
}
