/** Compares with every vector: exact, without anything to build. The reference for faster indexes, and fast enough for small bases. */
import { TopScores } from './top-scores.ts';
import type { VectorHit, VectorIndex } from './vector-index.ts';

/** Rows of one block; blocks are never moved when more are added. */
const BLOCK_ROWS = 1024;

export class FlatVectors implements VectorIndex {
  readonly dimensions: number;
  readonly #blocks: Float32Array[] = [];
  readonly #rowOf = new Map<number, number>();
  /** By row; -1: the row is free. */
  readonly #ids: number[] = [];
  readonly #free: number[] = [];

  constructor(dimensions: number) {
    this.dimensions = dimensions;
  }

  get sizeBytes(): number {
    return this.#blocks.length * BLOCK_ROWS * this.dimensions * 4 + this.#ids.length * 32;
  }

  add(id: number, vector: Float32Array): void {
    if (vector.length !== this.dimensions)
      throw new RangeError(`a vector of ${vector.length} dimensions does not belong to an index of ${this.dimensions}`);
    const row = this.#rowOf.get(id) ?? this.#free.pop() ?? this.#ids.length;
    const block = Math.floor(row / BLOCK_ROWS);
    this.#blocks[block] ??= new Float32Array(BLOCK_ROWS * this.dimensions);
    this.#blocks[block]?.set(vector, (row % BLOCK_ROWS) * this.dimensions);
    this.#ids[row] = id;
    this.#rowOf.set(id, row);
  }

  remove(id: number): void {
    const row = this.#rowOf.get(id);
    if (row === undefined) return;
    this.#rowOf.delete(id);
    this.#ids[row] = -1;
    this.#free.push(row);
  }

  search(query: Float32Array, k: number, allowed?: Uint32Array): VectorHit[] {
    const top = new TopScores(k);
    for (const [number, block] of this.#blocks.entries()) {
      const first = number * BLOCK_ROWS;
      const n = Math.min(BLOCK_ROWS, this.#ids.length - first);
      for (let row = 0; row < n; row++) {
        const id = this.#ids[first + row] ?? -1;
        if (id < 0 || (allowed !== undefined && ((allowed[id >>> 5] ?? 0) & (1 << (id & 31))) === 0)) continue;
        top.offer(id, product(block, row * this.dimensions, query));
      }
    }
    return top.take();
  }

  similarity(query: Float32Array, id: number): number | undefined {
    const row = this.#rowOf.get(id);
    const block = row === undefined ? undefined : this.#blocks[Math.floor(row / BLOCK_ROWS)];
    return row === undefined || block === undefined ? undefined : product(block, (row % BLOCK_ROWS) * this.dimensions, query);
  }

  close(): void {
    this.#blocks.length = 0;
    this.#rowOf.clear();
    this.#ids.length = 0;
    this.#free.length = 0;
  }
}

/** Four sums at a time, since each addition waits for the one before it. */
function product(block: Float32Array, offset: number, query: Float32Array): number {
  const n = query.length;
  let [a, b, c, d] = [0, 0, 0, 0];
  let i = 0;
  for (; i + 3 < n; i += 4) {
    a += (block[offset + i] as number) * (query[i] as number);
    b += (block[offset + i + 1] as number) * (query[i + 1] as number);
    c += (block[offset + i + 2] as number) * (query[i + 2] as number);
    d += (block[offset + i + 3] as number) * (query[i + 3] as number);
  }
  for (; i < n; i++) a += (block[offset + i] as number) * (query[i] as number);
  return a + b + c + d;
}
