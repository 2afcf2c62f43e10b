import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, configure } from './cmake.mjs';
import { buildFolder } from './paths.mjs';
import { getPreset } from './presets.mjs';

/**
 * Builds the addons of this checkout against built upstream libraries, into build/<preset>/lib.
 * @param {{ preset: string, folder: string, source: string }} engine as describeEngine returns it
 * @param {(text: string) => void} onProgress
 */
export async function buildAddons(engine, onProgress) {
  const folder = buildFolder(engine.preset);
  const text = await readFile(join(folder, 'CMakeCache.txt'), 'utf8').catch(() => '');
  const configured = existsSync(join(folder, 'build.ninja')) || existsSync(join(folder, 'Makefile'));
  if (!configured || !text.includes(`SVC_ENGINE_DIR:PATH=${engine.folder}\n`)) {
    const { cacheVariables = {} } = getPreset(engine.preset);
    await configure({ preset: engine.preset, folder, variables: { ...cacheVariables, SVC_ENGINE_DIR: engine.folder } });
  }
  await compile({ folder, targets: ['all'], onProgress });
}
