/** Recall and pace of searches that come one after the other. */
import { vectorAt } from '../../native/vector/test/vectors.ts';
import { quantile } from '../statistics.ts';
import type { AllowedVectors, VectorLibrary } from './vector-library.ts';
import { K, LEAST_RECALL } from './vector-load.ts';

/** Searches go on for so long, so that a quick library is not judged by an instant. */
const LEAST_MS = 500;

export interface SearchFigures {
  recallAt10: number;
  queriesPerSecond: number;
  p99Ms: number;
}

/** By the least effort that finds enough, or by the greatest. */
export async function measureSearches(
  library: VectorLibrary,
  queries: readonly Float32Array[],
  truth: readonly Set<number>[],
  allowed: AllowedVectors | undefined,
): Promise<SearchFigures> {
  for (const effort of library.efforts ?? []) {
    library.setEffort?.(effort);
    if ((await recallOf(library, queries, truth, allowed)) >= LEAST_RECALL) break;
  }
  const recallAt10 = await recallOf(library, queries, truth, allowed);
  const times: number[] = [];
  const beganAt = performance.now();
  while (performance.now() - beganAt < LEAST_MS) {
    for (const query of queries) {
      const askedAt = performance.now();
      await library.search(query, K, allowed);
      times.push(performance.now() - askedAt);
    }
  }
  const seconds = times.reduce((sum, each) => sum + each, 0) / 1_000;
  return { recallAt10, queriesPerSecond: times.length / seconds, p99Ms: quantile(times, 0.99) };
}

async function recallOf(
  library: VectorLibrary,
  queries: readonly Float32Array[],
  truth: readonly Set<number>[],
  allowed: AllowedVectors | undefined,
): Promise<number> {
  let nFound = 0;
  let nWanted = 0;
  for (const [i, query] of queries.entries()) {
    const wanted = truth[i] ?? new Set();
    nWanted += wanted.size;
    for (const key of await library.search(query, K, allowed)) if (wanted.has(key)) nFound += 1;
  }
  return nWanted === 0 ? 1 : nFound / nWanted;
}

export function queriesOf(queries: Float32Array, dimensions: number): Float32Array[] {
  return Array.from({ length: queries.length / dimensions }, (_, i) => vectorAt(queries, i, dimensions));
}
