/** What every library is given: made once for a load, and read by each library's process, so that nothing else is in its memory. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomNumbers } from '../../native/vector/test/vectors.ts';
import { exactNeighbours } from './exact-neighbours.ts';
import { type VectorData, vectorData } from './vector-data.ts';
import { type AllowedVectors, allowVectors } from './vector-library.ts';
import type { VectorLoad } from './vector-load.ts';

export interface MeasuredSet extends VectorData {
  /** What may be found: everything, then each filter's share. */
  readonly allowed: readonly (AllowedVectors | undefined)[];
  /** For each of `allowed` and each query the keys that are nearest. */
  readonly truth: readonly (readonly Set<number>[])[];
}

export async function makeSet(folder: string, load: VectorLoad, seed: number): Promise<void> {
  const data = await vectorData(load, seed);
  const truth = await exactNeighbours(data, allowedOf(load, seed, data.stored.length / data.dimensions));
  const keys = truth.map((sets) => sets.map((set) => [...set]));
  await writeFile(join(folder, 'stored'), data.stored);
  await writeFile(join(folder, 'queries'), data.queries);
  await writeFile(join(folder, 'truth.json'), JSON.stringify({ dimensions: data.dimensions, keys }));
}

export async function readSet(folder: string, load: VectorLoad, seed: number): Promise<MeasuredSet> {
  const { dimensions, keys } = JSON.parse(await readFile(join(folder, 'truth.json'), 'utf8')) as {
    dimensions: number;
    keys: number[][][];
  };
  const [stored, queries] = [await readNumbers(join(folder, 'stored')), await readNumbers(join(folder, 'queries'))];
  const allowed = allowedOf(load, seed, stored.length / dimensions);
  return { dimensions, stored, queries, allowed, truth: keys.map((sets) => sets.map((set) => new Set(set))) };
}

function allowedOf({ filters }: VectorLoad, seed: number, count: number): (AllowedVectors | undefined)[] {
  return [undefined, ...filters.map((share) => drawn(count, share, seed))];
}

function drawn(count: number, share: number, seed: number): AllowedVectors {
  const random = randomNumbers(seed + Math.round(share * 1_000));
  const keys = Float64Array.from(Array.from({ length: count }, (_, key) => key).filter(() => random() < share));
  return allowVectors(keys, count);
}

async function readNumbers(path: string): Promise<Float32Array> {
  const { buffer, byteOffset, byteLength } = await readFile(path);
  return new Float32Array(buffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT);
}
