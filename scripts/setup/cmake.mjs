import { availableParallelism, totalmem } from 'node:os';
import { cacheFolder, checkout } from './paths.mjs';
import { runCommand } from './run-command.mjs';

/**
 * Runs CMake, or what runs it. onProgress gets what the build tool says of itself, for example `[12/245]` or `[ 5%]`.
 * @param {string} program
 * @param {string[]} args
 * @param {(text: string) => void} [onProgress]
 */
export async function runCmake(program, args, onProgress = () => {}) {
  // A heavy translation unit of llama.cpp takes about 1 GB.
  const jobs = Math.max(1, Math.min(availableParallelism(), Math.floor(totalmem() / 2 ** 30)));
  await runCommand(program, args, {
    cwd: checkout,
    // One clone's objects serve another: paths below the cache are hashed as relative.
    env: {
      CCACHE_BASEDIR: cacheFolder(),
      CCACHE_NOHASHDIR: '1',
      CMAKE_BUILD_PARALLEL_LEVEL: String(jobs),
      ...process.env,
    },
    onText: (text) => {
      const last = text.match(/\[\d+\/\d+\]|\[ *\d+%\]/g)?.at(-1);
      if (last) onProgress(last);
    },
  });
}
