import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Where V8's compiled code of the checkout's modules is kept: the user's own cache, as nobody else may write what this process will run. */
export function compileCacheFolder(env: NodeJS.ProcessEnv): string | undefined {
  if (env['NODE_COMPILE_CACHE'] !== undefined || env['NODE_DISABLE_COMPILE_CACHE'] !== undefined) return undefined;
  const named = env['SVC_CACHE_DIR'] ?? (env['XDG_CACHE_HOME'] && join(env['XDG_CACHE_HOME'], 'svc'));
  const folder = named || (env['HOME'] && join(homedir(), '.cache', 'svc'));
  return folder && isAbsolute(folder) ? join(folder, 'compiled') : undefined;
}
