import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '../../scripts/setup/paths.mjs';
import { generatorVersion, type RandomModelOptions, recipe, writeRandomModel } from './random-model.ts';
import { type RandomProjectorOptions, writeRandomProjector } from './random-projector.ts';
import { type RandomVoiceOptions, writeRandomVoice } from './random-voice.ts';

/**
 * Path of a random model in the cache ($SVC_CACHE_DIR or ~/.cache/svc, under models/), made on first use.
 * Safe when several processes ask at once: each writes its own copy and the last rename wins, with the same bytes.
 */
export async function randomModel(options: RandomModelOptions = {}): Promise<string> {
  const made = recipe(options);
  return cached(`random-${made.arch}-${made.shape}-${made.type}`, made, (path) => writeRandomModel(path, options));
}

/** Path of a projector for random models of one shape. */
export async function randomProjector({ shape = 'tiny', seed = 1, hears = false }: RandomProjectorOptions = {}): Promise<string> {
  const made = { shape, seed, generatorVersion, ...(hears ? { hears } : {}) };
  return cached(`random-projector-${shape}${hears ? '-hearing' : ''}`, made, (path) => writeRandomProjector(path, made));
}

/** Paths of a voice's model and its projector. */
export async function randomVoice({
  shape = 'pocket',
  seed = 1,
  ends = false,
}: RandomVoiceOptions = {}): Promise<{ model: string; projector: string }> {
  const made = { shape, seed, ends, generatorVersion };
  const projectorOf = (model: string) => `${model}.mmproj`;
  const model = await cached(`random-voice-${shape}`, made, (path) => writeRandomVoice(path, projectorOf(path), made));
  return { model, projector: projectorOf(model) };
}

async function cached(name: string, made: object, write: (path: string) => Promise<void>): Promise<string> {
  const digest = createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 12);
  const folder = join(cacheFolder(), 'models');
  const path = join(folder, `${name}-${digest}.gguf`);
  if (existsSync(path)) return path;
  await mkdir(folder, { recursive: true });
  await write(path);
  return path;
}
