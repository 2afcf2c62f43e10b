import { existsSync, readdirSync } from 'node:fs';
import { copyFile, mkdir, rename, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { checkout } from './paths.mjs';

/** Where the server looks for models, unless svc.toml says otherwise. */
export function modelsFolder() {
  const { SVC_DATA_DIR = 'data', SVC_MODELS_DIR = join(SVC_DATA_DIR, 'models') } = process.env;
  return resolve(checkout, SVC_MODELS_DIR);
}

/**
 * Whether every model that the repository ships is in the folder, as it is shipped.
 * @param {string} root
 * @param {string} folder
 */
export async function areShippedModelsPlaced(root = checkout, folder = modelsFolder()) {
  const placed = await Promise.all(shipped(root).map((path) => isSame(path, join(folder, basename(path)))));
  return placed.every(Boolean);
}

/**
 * Copies them there; each appears by rename.
 * @param {string} root
 * @param {string} folder
 */
export async function placeShippedModels(root = checkout, folder = modelsFolder()) {
  await mkdir(folder, { recursive: true });
  for (const path of shipped(root)) {
    const target = join(folder, basename(path));
    if (await isSame(path, target)) continue;
    const draft = `${target}.${process.pid}.part`;
    await copyFile(path, draft);
    await rename(draft, target);
  }
}

/**
 * Of each recipe, the model of the same name.
 * @param {string} root
 */
function shipped(root) {
  const names = readdirSync(join(root, 'models')).sort();
  return names.map((name) => join(root, 'models', name, `${name}.gguf`)).filter((path) => existsSync(path));
}

/**
 * A newer source is copied again: two trainings of a model give files of the same size.
 * @param {string} source
 * @param {string} target
 */
async function isSame(source, target) {
  const [from, to] = await Promise.all([stat(source), stat(target).catch(() => undefined)]);
  return to !== undefined && from.size === to.size && from.mtimeMs <= to.mtimeMs;
}
