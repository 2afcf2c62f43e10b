/** How long a search takes that arrives while vectors are added: what a knowledge base is like while documents are taken in. */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { quantile } from '../statistics.ts';
import type { VectorLibrary } from './vector-library.ts';
import { ADDED_PER_SECOND, K, SEARCHES_PER_SECOND } from './vector-load.ts';

const BATCHES_PER_SECOND = 20;
/** How late a timer may be. */
const TIMER_MS = 1.5;

/**
 * The 99th percentile of the time from a search's moment to its answer, milliseconds: searches arrive at fixed moments, and one that must wait
 * for an addition has waited.
 */
export async function searchWhile(
  library: VectorLibrary,
  queries: readonly Float32Array[],
  seconds: number,
  adding?: { firstKey: number; vectors: Float32Array; dimensions: number },
): Promise<number> {
  const beganAt = performance.now();
  const endsAt = beganAt + seconds * 1_000;
  const added = adding === undefined ? Promise.resolve() : addSteadily(library, adding, beganAt, endsAt);
  const times: number[] = [];
  for (let n = 0; ; n++) {
    const dueAt = beganAt + (n * 1_000) / SEARCHES_PER_SECOND;
    if (dueAt >= endsAt) break;
    await until(dueAt);
    await library.search(queries[n % queries.length] ?? new Float32Array(), K);
    times.push(performance.now() - dueAt);
  }
  await added;
  return quantile(times, 0.99);
}

/** To a fraction of a millisecond, which timers are not. */
async function until(dueAt: number): Promise<void> {
  const early = dueAt - performance.now() - TIMER_MS;
  if (early > 0) await wait(early);
  while (performance.now() < dueAt) await nextTurn();
}

async function addSteadily(
  library: VectorLibrary,
  { firstKey, vectors, dimensions }: { firstKey: number; vectors: Float32Array; dimensions: number },
  beganAt: number,
  endsAt: number,
): Promise<void> {
  const size = (ADDED_PER_SECOND / BATCHES_PER_SECOND) * dimensions;
  for (let n = 0; n * size < vectors.length; n++) {
    const dueAt = beganAt + (n * 1_000) / BATCHES_PER_SECOND;
    if (dueAt >= endsAt) return;
    await until(dueAt);
    await library.add(firstKey + (n * size) / dimensions, vectors.subarray(n * size, (n + 1) * size));
  }
}
