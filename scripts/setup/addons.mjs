import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, configure } from './cmake.mjs';
import { buildFolder } from './paths.mjs';
import { getPreset } from './presets.mjs';
import { readPins, sourceFolder } from './sources.mjs';

/**
 * Builds the addons of this checkout against built upstream libraries, into build/<preset>/lib.
 * @param {{ preset: string, folder: string, source: string }} engine as describeEngine returns it
 * @param {(text: string) => void} onProgress
 */
export async function buildAddons(engine, onProgress) {
  const folder = buildFolder(engine.preset);
  const text = await readFile(join(folder, 'CMakeCache.txt'), 'utf8').catch(() => '');
  const configured = existsSync(join(folder, 'build.ninja')) || existsSync(join(folder, 'Makefile'));
  const sources = { SVC_ENGINE_DIR: engine.folder, SVC_USEARCH_DIR: usearchFolder() };
  const isCurrent = Object.entries(sources).every(([name, path]) => text.includes(`${name}:PATH=${path}\n`));
  if (!configured || !isCurrent) {
    const { cacheVariables = {} } = getPreset(engine.preset);
    // CMake keeps the toolchain file of its first run by path, and fails once a newer checkout has it elsewhere.
    for (const state of ['CMakeCache.txt', 'CMakeFiles']) await rm(join(folder, state), { recursive: true, force: true });
    await configure({ preset: engine.preset, folder, variables: { ...cacheVariables, ...sources } });
  }
  await compile({ folder, targets: ['all'], onProgress });
}

function usearchFolder() {
  const { usearch } = readPins();
  if (!usearch) throw new Error('native/sources.json has no usearch');
  return sourceFolder(usearch);
}
