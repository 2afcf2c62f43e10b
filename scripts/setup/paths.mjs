import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout that these scripts belong to. */
export const checkout = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/**
 * Where downloads and compiled upstream libraries live, shared by every clone on the machine.
 * @param {NodeJS.ProcessEnv} env
 */
export function cacheFolder(env = process.env) {
  if (env.SVC_CACHE_DIR) return resolve(env.SVC_CACHE_DIR);
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc');
}

/**
 * What a build of the preset leaves behind.
 * @param {string} preset
 */
export function buildFolder(preset) {
  return join(checkout, 'build', preset);
}
