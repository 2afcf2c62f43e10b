import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { randomModel } from '../models/random/fixture.ts';
import { type ShapeName, shapes } from '../models/random/shapes.ts';

/** A GGUF file of the user's own, or the name of a random shape, which is then made in the cache. */
export async function findModel(name: string): Promise<string> {
  if (existsSync(name)) return name;
  if (!Object.hasOwn(shapes, name))
    throw new Error(`--model ${name}: give a GGUF file or one of ${Object.keys(shapes).join(', ')}`);
  const shape = name as ShapeName;
  return randomModel(shape === 'q05' ? { shape, arch: 'qwen2', type: 'q4_0' } : { shape });
}

export async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
