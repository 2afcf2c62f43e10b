import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildFolder, checkout } from './paths.mjs';

/** @typedef {{ title: string, runtime: string, packages: string, env: Record<string, string> }} Sanitizer */

/** By the preset whose addons they are in. */
export const sanitizers = {
  asan: {
    title: 'ASan and UBSan',
    runtime: 'libasan.so',
    packages: 'Debian: libasan comes with g++; Fedora: dnf install libasan libubsan',
    env: {
      // Node frees little at exit, and containers filled by upstream's unsanitised code would look overflown.
      ASAN_OPTIONS: 'detect_leaks=0:detect_container_overflow=0:detect_odr_violation=0:halt_on_error=1',
      UBSAN_OPTIONS: 'print_stacktrace=1:halt_on_error=1',
    },
  },
  tsan: {
    title: 'TSan',
    runtime: 'libtsan.so',
    packages: 'Debian: libtsan comes with g++; Fedora: dnf install libtsan',
    env: {
      // A process that had a report goes on, so that one run finds them all, and ends with this code.
      TSAN_OPTIONS: [
        `suppressions=${join(checkout, 'native', 'tsan.supp')}`,
        'exitcode=66',
        'halt_on_error=0',
        'history_size=4',
        'second_deadlock_stack=1',
      ].join(':'),
    },
  },
};

/**
 * The environment in which node loads the addons of the sanitizer's preset, or undefined where the compiler has no such runtime.
 * @param {keyof typeof sanitizers} name
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv | undefined}
 */
export function sanitizerEnvironment(name, env = process.env) {
  /** @type {Sanitizer} */
  const sanitizer = sanitizers[name];
  const runtime = findRuntime(env.CXX ?? 'c++', sanitizer.runtime);
  if (!runtime) return undefined;
  return { ...env, SVC_NATIVE_DIR: join(buildFolder(name), 'lib'), LD_PRELOAD: runtime, ...sanitizer.env };
}

/**
 * @param {string} compiler
 * @param {string} name
 */
function findRuntime(compiler, name) {
  if (process.platform !== 'linux') return undefined;
  try {
    const path = execFileSync(compiler, [`-print-file-name=${name}`], { encoding: 'utf8' }).trim();
    return existsSync(path) ? path : undefined;
  } catch {
    // A compiler that does not know the question has no runtime to preload either.
    return undefined;
  }
}
