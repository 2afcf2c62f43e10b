import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findNode } from '../../ts/cli/node-runtime.mjs';
import { runCmake } from './cmake.mjs';
import { buildFolder, checkout } from './paths.mjs';
import { getPreset } from './presets.mjs';
import { readPins, sourceFolder } from './sources.mjs';

const cmakeJs = join(checkout, 'node_modules', 'cmake-js', 'bin', 'cmake-js');

/**
 * Builds the addons of this checkout against built upstream libraries, into build/<preset>/lib.
 * @param {{ preset: string, folder: string, source: string }} engine as describeEngine returns it
 * @param {(text: string) => void} onProgress
 */
export async function buildAddons(engine, onProgress) {
  const folder = buildFolder(engine.preset);
  const text = await readFile(join(folder, 'CMakeCache.txt'), 'utf8').catch(() => '');
  const configured = existsSync(join(folder, 'build.ninja')) || existsSync(join(folder, 'Makefile'));
  const sources = {
    SVC_ENGINE_DIR: engine.folder,
    SVC_USEARCH_DIR: pinned('usearch'),
    SVC_WHISPER_CPP_DIR: pinned('whisper.cpp'),
  };
  const isCurrent = Object.entries(sources).every(([name, path]) => text.includes(`${name}:PATH=${path}\n`));
  if (!configured || !isCurrent) {
    // cmake-js configures where no cache lies. CMake keeps the toolchain file of its first run by path, and fails once a newer
    // checkout has it elsewhere.
    for (const state of ['CMakeCache.txt', 'CMakeFiles']) await rm(join(folder, state), { recursive: true, force: true });
  }
  const { cacheVariables = {}, toolchainFile } = getPreset(engine.preset);
  const toolchain = toolchainFile ? { CMAKE_TOOLCHAIN_FILE: toolchainFile.replace(/^\$\{sourceDir\}/, checkout) } : {};
  const variables = Object.entries({ ...cacheVariables, ...toolchain, ...sources });
  const options = variables.map(([name, value]) => `--CD${name}=${value}`);
  await buildTarget(folder, 'all', onProgress, options);
}

/**
 * Builds a target in the folder of a preset's addons.
 * @param {string} folder
 * @param {string} target
 * @param {(text: string) => void} onProgress
 * @param {string[]} options for a folder that is not configured
 */
export async function buildTarget(folder, target, onProgress, options = []) {
  const args = [cmakeJs, 'build', '--out', folder, '--target', target, ...options];
  await runCmake(findNode() ?? process.execPath, args, onProgress);
}

/** @param {string} name */
function pinned(name) {
  const pin = readPins()[name];
  if (!pin) throw new Error(`native/sources.json has no ${name}`);
  return sourceFolder(pin);
}
