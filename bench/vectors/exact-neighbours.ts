/** The truth that recall is measured by: every query against every vector. */
import { vectorAt } from '../../native/vector/test/vectors.ts';
import { flatScan } from './libraries/flat-scan.ts';
import type { VectorData } from './vector-data.ts';
import type { AllowedVectors } from './vector-library.ts';
import { K } from './vector-load.ts';

/** For each query the keys of its K nearest, of those that are allowed. */
export async function exactNeighbours(
  { dimensions, stored, queries }: VectorData,
  allowed: readonly (AllowedVectors | undefined)[],
): Promise<Set<number>[][]> {
  const scan = await flatScan({ dimensions, capacity: stored.length / dimensions });
  await scan.add(0, stored);
  const found: Set<number>[][] = [];
  for (const one of allowed) {
    const sets: Set<number>[] = [];
    for (let i = 0; i * dimensions < queries.length; i++)
      sets.push(new Set(await scan.search(vectorAt(queries, i, dimensions), K, one)));
    found.push(sets);
  }
  return found;
}
