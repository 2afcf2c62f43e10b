import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildFolder } from './paths.mjs';

/**
 * The environment in which node loads the addons of the asan preset, or undefined where the compiler has no such runtime.
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv | undefined}
 */
export function sanitizerEnvironment(env = process.env) {
  const runtime = findRuntime(env.CXX ?? 'c++');
  if (!runtime) return undefined;
  return {
    ...env,
    SVC_NATIVE_DIR: join(buildFolder('asan'), 'lib'),
    LD_PRELOAD: runtime,
    // Node frees little at exit, and containers filled by upstream's unsanitised code would look overflown.
    ASAN_OPTIONS: 'detect_leaks=0:detect_container_overflow=0:detect_odr_violation=0:halt_on_error=1',
    UBSAN_OPTIONS: 'print_stacktrace=1:halt_on_error=1',
  };
}

/** @param {string} compiler */
function findRuntime(compiler) {
  if (process.platform !== 'linux') return undefined;
  try {
    const path = execFileSync(compiler, ['-print-file-name=libasan.so'], { encoding: 'utf8' }).trim();
    return existsSync(path) ? path : undefined;
  } catch {
    // A compiler that does not know the question has no runtime to preload either.
    return undefined;
  }
}
