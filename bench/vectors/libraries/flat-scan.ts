/** Compares with every vector, in JavaScript: what a few lines without any library do. */
import type { CreateLibrary } from '../vector-library.ts';

export const flatScan: CreateLibrary = ({ dimensions, capacity }) => {
  const all = new Float32Array(capacity * dimensions);
  let count = 0;
  return {
    canFilter: true,
    add: (firstKey, vectors) => {
      all.set(vectors, firstKey * dimensions);
      for (let at = firstKey * dimensions; at < firstKey * dimensions + vectors.length; at += dimensions)
        normalise(all, at, dimensions);
      count = Math.max(count, firstKey + vectors.length / dimensions);
    },
    search: (query, k, allowed) => {
      const best: { key: number; score: number }[] = [];
      for (let key = 0; key < count; key++) {
        if (allowed !== undefined && !allowed.has(key)) continue;
        const score = product(all, key * dimensions, query);
        const last = best[k - 1];
        if (last !== undefined && score <= last.score) continue;
        const place = best.findIndex((hit) => hit.score < score);
        best.splice(place < 0 ? best.length : place, 0, { key, score });
        best.length = Math.min(best.length, k);
      }
      return best.map(({ key }) => key);
    },
    close: () => undefined,
  };
};

function product(all: Float32Array, at: number, query: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < query.length; i++) sum += (all[at + i] ?? 0) * (query[i] ?? 0);
  return sum;
}

function normalise(all: Float32Array, at: number, dimensions: number): void {
  let sum = 0;
  for (let i = at; i < at + dimensions; i++) sum += (all[i] ?? 0) ** 2;
  const length = Math.sqrt(sum);
  if (length > 0) for (let i = at; i < at + dimensions; i++) all[i] = (all[i] ?? 0) / length;
}
