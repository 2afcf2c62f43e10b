/** usearch's own Node binding, of the version whose headers native/vector is built from. It cannot filter. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreateLibrary } from '../vector-library.ts';
import { requireRival } from './require-rival.ts';

/** Of the binding, as far as it is used. */
interface UsearchIndex {
  add(keys: BigUint64Array, vectors: Float32Array, threads: number): void;
  search(queries: Float32Array, k: number, threads: number): { keys: BigUint64Array };
  save(path: string): void;
  load(path: string): void;
  view(path: string): void;
}

interface Usearch {
  Index: new (options: object) => UsearchIndex;
}

const CONNECTIVITY = 16;
const EFFORT_OF_ADDING = 128;

export const usearch: CreateLibrary = ({ dimensions }) => {
  const { Index } = requireRival('usearch') as Usearch;
  const options = { metric: 'cos', quantization: 'f16', dimensions, connectivity: CONNECTIVITY, expansion_add: EFFORT_OF_ADDING };
  let index = new Index({ ...options, expansion_search: 64 });
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-usearch-'));
  return {
    canFilter: false,
    add: (firstKey, vectors) => {
      const keys = BigUint64Array.from({ length: vectors.length / dimensions }, (_, i) => BigInt(firstKey + i));
      index.add(keys, vectors, 0);
    },
    efforts: [64, 96, 128, 192, 256, 384, 512, 1_024],
    // The binding takes the effort when an index is made, so that another one reads what was saved.
    setEffort: (effort) => {
      const path = join(folder, 'index');
      index.save(path);
      index = new Index({ ...options, expansion_search: effort });
      index.load(path);
    },
    search: (query, k) => Array.from(index.search(query, k, 1).keys, Number),
    save: (path) => index.save(path),
    view: (path, query) => {
      const viewed = new Index({ ...options, expansion_search: 64 });
      viewed.view(path);
      viewed.search(query, 1, 1);
    },
    close: () => rmSync(folder, { recursive: true }),
  };
};
