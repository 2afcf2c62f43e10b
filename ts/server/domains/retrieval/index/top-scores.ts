/** The best of many scores, kept in a heap whose root is the worst of them. Of equal scores the smaller id is better. */
import type { VectorHit } from './vector-index.ts';

export class TopScores {
  readonly #most: number;
  readonly #heap: VectorHit[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  offer(id: number, score: number): void {
    const worst = this.#heap[0];
    if (this.#heap.length < this.#most) {
      this.#heap.push({ id, score });
      this.#rise(this.#heap.length - 1);
    } else if (worst !== undefined && isWorse(worst, { id, score })) {
      this.#heap[0] = { id, score };
      this.#sink(0);
    }
  }

  /** Best first. */
  take(): VectorHit[] {
    return [...this.#heap].sort((a, b) => b.score - a.score || a.id - b.id);
  }

  #rise(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfWorse(at, parent)) return;
      at = parent;
    }
  }

  #sink(from: number): void {
    for (let at = from; ; ) {
      const left = 2 * at + 1;
      const right = left + 1;
      if (left >= this.#heap.length) return;
      const child = right < this.#heap.length && this.#isWorse(right, left) ? right : left;
      if (!this.#swapIfWorse(child, at)) return;
      at = child;
    }
  }

  #isWorse(a: number, b: number): boolean {
    const [first, second] = [this.#heap[a], this.#heap[b]];
    return first !== undefined && second !== undefined && isWorse(first, second);
  }

  #swapIfWorse(child: number, parent: number): boolean {
    const [below, above] = [this.#heap[child], this.#heap[parent]];
    if (below === undefined || above === undefined || !isWorse(below, above)) return false;
    this.#heap[parent] = below;
    this.#heap[child] = above;
    return true;
  }
}

function isWorse(a: VectorHit, b: VectorHit): boolean {
  return a.score < b.score || (a.score === b.score && a.id > b.id);
}
