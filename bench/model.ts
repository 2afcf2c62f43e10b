import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { randomModel } from '../models/random/fixture.ts';
import type { RandomModelOptions } from '../models/random/random-model.ts';
import { type ShapeName, shapes } from '../models/random/shapes.ts';

/** Long enough for every trial; the context of the small shapes, which is made for tests, is not. */
const nContext = 32_768;

/** Random models for other work than chat. */
const others: Readonly<Record<string, RandomModelOptions>> = {
  'random-embedding': { arch: 'bert' },
  'random-rerank': { arch: 'reranker' },
};

export type ModelPurpose = 'chat' | 'embedding';

/** A GGUF file of the user's own, or the name of a random shape, which is then made in the cache. */
export async function findModel(name: string, purpose: ModelPurpose = 'chat'): Promise<string> {
  const other = others[name];
  if (other) return randomModel(other);
  if (existsSync(name)) return name;
  if (!Object.hasOwn(shapes, name))
    throw new Error(`--model ${name}: give a GGUF file or one of ${Object.keys(shapes).join(', ')}`);
  const shape = name as ShapeName;
  if (purpose === 'embedding') return randomModel({ shape, arch: 'bert' });
  return randomModel(shape === 'q05' || shape === 'b1' ? { shape, arch: 'qwen2', type: 'q4_0' } : { shape, nContext });
}

export async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
