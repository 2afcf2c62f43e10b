/** The indexes that are in memory, of the collections of all modules: those unused longest go where they take too much. */
import type { IndexThread } from '../index/index-thread.ts';

export interface LoadedIndex {
  /** What the thread calls it: one for each time that the collection is loaded. */
  readonly key: number;
  /** Of the collection, as far as the thread has it. */
  version: number;
  isOpen: boolean;
  sizeBytes: number;
  nPassages: number;
  /** Passages that were added since it was saved. */
  nUnsaved: number;
  /** While it is being saved. */
  saving: Promise<void> | undefined;
  lastUsedAt: number;
  /** Changes come one after another. */
  work: Promise<void>;
}

export class LoadedIndexes {
  readonly #thread: IndexThread;
  readonly #maxBytes: number;
  /** By the ids of their collections. */
  readonly #indexes = new Map<string, LoadedIndex>();
  #lastKey = 0;

  constructor(thread: IndexThread, maxBytes: number) {
    this.#thread = thread;
    this.#maxBytes = maxBytes;
  }

  get sizeBytes(): number {
    return [...this.#indexes.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  get isFull(): boolean {
    return this.sizeBytes >= this.#maxBytes;
  }

  find(id: string): LoadedIndex | undefined {
    return this.#indexes.get(id);
  }

  set(id: string, index: LoadedIndex): void {
    this.#indexes.set(id, index);
  }

  /** An index of nothing, which has no place among the others yet. */
  create(): LoadedIndex {
    const key = ++this.#lastKey;
    const empty = { version: 0, isOpen: false, sizeBytes: 0, nPassages: 0, nUnsaved: 0, saving: undefined };
    return { key, ...empty, lastUsedAt: performance.now(), work: Promise.resolve() };
  }

  /** Frees its memory; the next search loads it again. */
  async drop(id: string): Promise<void> {
    const index = this.#indexes.get(id);
    if (index === undefined) return;
    this.#indexes.delete(id);
    await this.#thread.ask('drop', { key: index.key });
  }

  /** Drops those that were unused longest, and never the one that is asked. */
  async evict(asked: string): Promise<void> {
    const others = [...this.#indexes].filter(([id]) => id !== asked).sort((a, b) => a[1].lastUsedAt - b[1].lastUsedAt);
    for (const [id] of others) {
      if (this.sizeBytes <= this.#maxBytes) return;
      await this.drop(id);
    }
  }

  /** The thread has lost everything. */
  forget(): void {
    this.#indexes.clear();
  }
}
