import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from './paths.mjs';
import { SetUpError } from './set-up-error.mjs';

/** @typedef {{ name: string, inherits?: string, hidden?: boolean, toolchainFile?: string, cacheVariables?: Record<string, string> }} Preset */

/**
 * A preset of CMakePresets.json with what it inherits filled in. Throws SetUpError for a name that is not there.
 * @param {string} name
 * @returns {Preset}
 */
export function getPreset(name) {
  /** @type {{ configurePresets: Preset[] }} */
  const { configurePresets } = JSON.parse(readFileSync(join(checkout, 'CMakePresets.json'), 'utf8'));
  const preset = configurePresets.find((entry) => entry.name === name);
  if (!preset) {
    const known = configurePresets.filter((entry) => !entry.hidden).map((entry) => entry.name);
    throw new SetUpError(`There is no preset '${name}': choose one of ${known.join(', ')}`);
  }
  const parent = preset.inherits ? getPreset(preset.inherits) : { cacheVariables: {} };
  return { ...preset, cacheVariables: { ...parent.cacheVariables, ...preset.cacheVariables } };
}
