import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '../../scripts/setup/paths.mjs';
import { type RandomModelOptions, recipe, writeRandomModel } from './random-model.ts';

/**
 * Path of a random model in the cache ($SVC_CACHE_DIR or ~/.cache/svc, under models/), made on first use.
 * Safe when several processes ask at once: each writes its own copy and the last rename wins, with the same bytes.
 */
export async function randomModel(options: RandomModelOptions = {}): Promise<string> {
  const made = recipe(options);
  const digest = createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 12);
  const folder = join(cacheFolder(), 'models');
  const path = join(folder, `random-${made.arch}-${made.shape}-${made.type}-${digest}.gguf`);
  if (existsSync(path)) return path;
  await mkdir(folder, { recursive: true });
  await writeRandomModel(path, options);
  return path;
}
