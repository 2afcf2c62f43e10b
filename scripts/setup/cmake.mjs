import { availableParallelism, totalmem } from 'node:os';
import { cacheFolder, checkout } from './paths.mjs';
import { runCommand } from './run-command.mjs';
import { findProgram } from './tools.mjs';

/**
 * Configures a build folder of this checkout's CMakeLists.txt.
 * @param {{ preset: string, folder: string, variables: Record<string, string> }} build
 */
export async function configure({ preset, folder, variables }) {
  const ninja = findProgram('ninja') ?? findProgram('ninja-build');
  const definitions = Object.entries(variables).map(([name, value]) => `-D${name}=${value}`);
  const generator = ninja ? ['-G', 'Ninja', `-DCMAKE_MAKE_PROGRAM=${ninja}`] : ['-G', 'Unix Makefiles'];
  await runCommand('cmake', ['--preset', preset, '-B', folder, ...generator, ...definitions], { cwd: checkout });
}

/**
 * Builds a configured folder. onProgress gets what the build tool says of itself, for example `[12/245]` or `[ 5%]`.
 * @param {{ folder: string, targets: string[], onProgress: (text: string) => void }} build
 */
export async function compile({ folder, targets, onProgress }) {
  // A heavy translation unit of llama.cpp takes about 1 GB.
  const jobs = Math.max(1, Math.min(availableParallelism(), Math.floor(totalmem() / 2 ** 30)));
  await runCommand('cmake', ['--build', folder, '--parallel', String(jobs), '--target', ...targets], {
    // One clone's objects serve another: paths below the cache are hashed as relative.
    env: { CCACHE_BASEDIR: cacheFolder(), CCACHE_NOHASHDIR: '1', ...process.env },
    onText: (text) => {
      const last = text.match(/\[\d+\/\d+\]|\[ *\d+%\]/g)?.at(-1);
      if (last) onProgress(last);
    },
  });
}
