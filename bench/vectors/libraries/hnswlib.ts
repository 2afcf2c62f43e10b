/** hnswlib-node: links as ours has them, vectors in single precision. */
import type { CreateLibrary } from '../vector-library.ts';
import { requireRival } from './require-rival.ts';

/** Of the binding, as far as it is used. */
interface HierarchicalNsw {
  initIndex(options: { maxElements: number; m: number; efConstruction: number }): void;
  addPoint(vector: number[], key: number): void;
  setEf(effort: number): void;
  searchKnn(query: number[], k: number, filter?: (key: number) => boolean): { neighbors: number[]; distances: number[] };
}

interface Hnswlib {
  HierarchicalNSW: new (space: 'cosine', dimensions: number) => HierarchicalNsw;
}

export const hnswlib: CreateLibrary = ({ dimensions, capacity }) => {
  const { HierarchicalNSW } = requireRival('hnswlib-node') as Hnswlib;
  const index = new HierarchicalNSW('cosine', dimensions);
  index.initIndex({ maxElements: capacity, m: 16, efConstruction: 128 });
  return {
    canFilter: true,
    add: (firstKey, vectors) => {
      for (let i = 0; i * dimensions < vectors.length; i++)
        index.addPoint(Array.from(vectors.subarray(i * dimensions, (i + 1) * dimensions)), firstKey + i);
    },
    efforts: [64, 96, 128, 192, 256, 384, 512, 1_024],
    setEffort: (effort) => index.setEf(effort),
    search: (query, k, allowed) => {
      const filter = allowed && ((key: number) => allowed.has(key));
      const { neighbors, distances } = index.searchKnn(Array.from(query), k, filter);
      // Not always in order.
      return neighbors
        .map((key, i) => ({ key, distance: distances[i] ?? 0 }))
        .sort((a, b) => a.distance - b.distance)
        .map(({ key }) => key);
    },
    close: () => undefined,
  };
};
