import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readGguf } from '../../ts/server/platform/gguf/gguf-reader.ts';
import { findString } from '../../ts/server/platform/gguf/gguf-value.ts';
import { type RandomModelOptions, recipe, writeRandomModel } from './random-model.ts';

export const defaultModelName = 'svc-random-tiny.gguf';

const options: RandomModelOptions = { arch: 'llama', shape: 'tiny', seed: 1, type: 'f16' };

/** Makes sure that the demonstration model is in `folder`; a sound one of the present recipe is left as it is. */
export async function ensureDefaultModel(folder: string): Promise<{ path: string; isNew: boolean }> {
  const path = join(folder, defaultModelName);
  if (await isCurrent(path)) return { path, isNew: false };
  await mkdir(folder, { recursive: true });
  await writeRandomModel(path, options);
  return { path, isNew: true };
}

async function isCurrent(path: string): Promise<boolean> {
  try {
    const { metadata } = await readGguf(path);
    return findString(metadata, 'svc.random.recipe') === JSON.stringify(recipe(options));
  } catch {
    // Absent or damaged: either way it is made anew.
    return false;
  }
}
