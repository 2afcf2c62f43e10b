/**
 * Keeps the index thread in step with the database. Each base counts its changes; before a search, what has changed since the last one is
 * read and added or removed. So every node of a database finds what any of them acknowledged, and nothing that was deleted.
 *
 * Large bases are kept in files, from which they are opened at the next start; what changed since is told from the documents themselves.
 */
import type { TenantScope } from '../../../platform/storage/index.ts';
import { dataError } from '../errors.ts';
import type { BaseDocuments, IndexHit, IndexQuery, OpenedIndex } from '../index/index-messages.ts';
import type { IndexThread } from '../index/index-thread.ts';
import type { KnowledgeBase } from '../knowledge-base.ts';
import type { ChangedDocument, ChunkStore } from '../store/chunk-store.ts';
import { documentMark } from './document-mark.ts';
import type { KeptIndexes } from './kept-indexes.ts';

interface LoadedBase {
  /** What the thread calls it: one for each time that the base is loaded. */
  readonly key: number;
  /** Of the base, as far as the thread has it. */
  version: number;
  isOpen: boolean;
  sizeBytes: number;
  nPassages: number;
  /** Passages that were added since it was kept. */
  nUnkept: number;
  /** While it is being kept. */
  keeping: Promise<void> | undefined;
  lastUsedAt: number;
  /** Changes come one after another. */
  work: Promise<void>;
}

export interface KnowledgeIndexOptions {
  readonly thread: IndexThread;
  readonly chunks: Pick<ChunkStore, 'listChanges' | 'readForIndex'>;
  readonly kept: KeptIndexes;
  readonly maxBytes: number;
}

/** A base that is dropped between loading and searching is loaded again. */
const SEARCH_TRIES = 3;

export class KnowledgeIndex {
  readonly #options: KnowledgeIndexOptions;
  readonly #bases = new Map<number, LoadedBase>();
  readonly #rebuilds = new Map<number, Promise<void>>();
  #lastKey = 0;

  constructor(options: KnowledgeIndexOptions) {
    this.#options = options;
  }

  get sizeBytes(): number {
    return [...this.#bases.values()].reduce((sum, base) => sum + base.sizeBytes, 0);
  }

  /** `base` as it was just read: what it counts is what the search sees. Throws DataError `index_unavailable`, and StorageError. */
  async search(scope: TenantScope, base: KnowledgeBase, query: IndexQuery): Promise<readonly IndexHit[]> {
    for (let i = 0; i < SEARCH_TRIES; i++) {
      const { key } = await this.#load(scope, base);
      const { hits } = await this.#options.thread.ask('search', { key, query });
      if (hits !== undefined) return hits;
    }
    throw dataError('index_unavailable', 'There is not enough memory for the indexes that are asked; ask again.', {
      retryAfterMs: 1_000,
    });
  }

  /** Resolves when the thread has the base as it is. */
  async load(scope: TenantScope, base: KnowledgeBase): Promise<void> {
    await this.#load(scope, base);
  }

  /**
   * Makes the index anew from what is stored, while the one that is there serves, and takes its place when it searches as fast. Who asks
   * while it is under way waits for the same. Throws DataError `index_unavailable`, and StorageError.
   */
  rebuild(scope: TenantScope, base: KnowledgeBase): Promise<void> {
    const running = this.#rebuilds.get(base.no);
    if (running !== undefined) return running;
    const started = this.#rebuild(scope, base)
      .catch((error) => {
        this.#options.kept.noteFailure(base, 'rebuilt', error);
        throw error;
      })
      .finally(() => this.#rebuilds.delete(base.no));
    this.#rebuilds.set(base.no, started);
    return started;
  }

  /** Frees its memory; the next search loads it anew. */
  async drop(baseNo: number): Promise<void> {
    const loaded = this.#bases.get(baseNo);
    if (loaded === undefined) return;
    this.#bases.delete(baseNo);
    await this.#options.thread.ask('drop', { key: loaded.key });
  }

  /** The base is gone. */
  async remove(base: KnowledgeBase): Promise<void> {
    const rebuild = this.#rebuilds.get(base.no);
    if (rebuild !== undefined) void rebuild.then(() => this.remove(base)).catch(() => undefined);
    const keeping = this.#bases.get(base.no)?.keeping;
    await this.drop(base.no);
    // Nothing is written any more into the folder that goes.
    await keeping;
    await this.#options.kept.remove(base);
  }

  /** The thread has lost everything. */
  forget(): void {
    this.#bases.clear();
  }

  async #load(scope: TenantScope, base: KnowledgeBase): Promise<LoadedBase> {
    const loaded = this.#bases.get(base.no) ?? this.#newBase();
    this.#bases.set(base.no, loaded);
    loaded.lastUsedAt = performance.now();
    const work = loaded.work.catch(() => undefined).then(() => this.#catchUp(scope, base, loaded));
    loaded.work = work;
    await work;
    return loaded;
  }

  #newBase(): LoadedBase {
    const key = ++this.#lastKey;
    const empty = { version: 0, isOpen: false, sizeBytes: 0, nPassages: 0, nUnkept: 0, keeping: undefined };
    return { key, ...empty, lastUsedAt: performance.now(), work: Promise.resolve() };
  }

  async #catchUp(scope: TenantScope, base: KnowledgeBase, loaded: LoadedBase): Promise<void> {
    const isCurrent = () => this.#bases.get(base.no) === loaded;
    if (!isCurrent() || (loaded.isOpen && base.version <= loaded.version)) return;
    try {
      await this.#fill(scope, base, loaded, true);
    } catch (error) {
      if (isCurrent()) {
        // Half of a document may be there.
        void this.drop(base.no).catch(() => undefined);
        throw error;
      }
    }
    // Dropped meanwhile, or another one has its place, which whoever searches looks for then. It may have been opened after it was dropped.
    if (!isCurrent()) return void (await this.#options.thread.ask('drop', { key: loaded.key }));
    this.#keepSoon(base, loaded);
    await this.#evict(base.no);
  }

  /** Brings the thread's index in line with what is stored. */
  async #fill(scope: TenantScope, base: KnowledgeBase, loaded: LoadedBase, mayBeKept: boolean): Promise<void> {
    const { thread, chunks } = this.#options;
    // Deletions that were forgotten since cannot be told apart from documents that are still there.
    const isWhole = !loaded.isOpen || loaded.version < base.sweptVersion;
    const changes = await chunks.listChanges(scope, base, isWhole ? 0 : loaded.version);
    const ready = changes.filter(({ isReady }) => isReady);
    let added = ready;
    if (isWhole) {
      const { missing, isSparse } = await this.#align(base, loaded, columnsOf(ready), mayBeKept);
      const isMissing = new Set(missing);
      added = ready.filter(({ no }) => isMissing.has(no));
      this.#thin(scope, base, { isSparse });
    } else {
      const removed = changes.filter(({ isReady }) => !isReady).map(({ no }) => no);
      if (removed.length > 0) this.#thin(scope, base, await thread.ask('remove', { key: loaded.key, documentNos: removed }));
    }
    const markOf = new Map(added.map(({ no, id }) => [no, documentMark(id)]));
    for await (const passages of chunks.readForIndex(
      scope,
      added.map(({ no }) => no),
    )) {
      const marked = passages.map((passage) => ({ ...passage, mark: markOf.get(passage.documentNo) }));
      const size = await thread.ask('add', { key: loaded.key, passages: marked });
      Object.assign(loaded, size);
      loaded.nUnkept += passages.length;
    }
    loaded.version = base.version;
  }

  /** Opens the index, or compares the one that is open, with the documents that there are. Answers with those that it lacks. */
  async #align(
    base: KnowledgeBase,
    loaded: LoadedBase,
    documents: BaseDocuments,
    mayBeKept: boolean,
  ): Promise<Pick<OpenedIndex, 'missing' | 'isSparse'>> {
    const { thread, kept } = this.#options;
    if (loaded.isOpen) return await thread.ask('reconcile', { key: loaded.key, documents });
    const label = kept.labelOf(base);
    const place = mayBeKept ? kept.placeOf(base) : undefined;
    const opened = await thread.ask('open', { key: loaded.key, label, kept: place, documents });
    kept.note(base, opened);
    Object.assign(loaded, { isOpen: true, sizeBytes: opened.sizeBytes, nPassages: opened.nPassages });
    return opened;
  }

  /** An index of which most was removed is made anew. */
  #thin(scope: TenantScope, base: KnowledgeBase, { isSparse }: Pick<OpenedIndex, 'isSparse'>): void {
    if (isSparse) void this.rebuild(scope, base).catch(() => undefined);
  }

  async #rebuild(scope: TenantScope, base: KnowledgeBase): Promise<void> {
    const { thread } = this.#options;
    const fresh = this.#newBase();
    const before = this.#bases.get(base.no);
    try {
      await this.#fill(scope, base, fresh, false);
      await thread.ask('link', { key: fresh.key });
    } catch (error) {
      void thread.ask('drop', { key: fresh.key }).catch(() => undefined);
      throw error;
    }
    const old = this.#bases.get(base.no);
    // Nobody has it any more: it was dropped, or the base is gone.
    if (before !== undefined && old === undefined) return void (await thread.ask('drop', { key: fresh.key }));
    this.#bases.set(base.no, fresh);
    if (old !== undefined) await thread.ask('drop', { key: old.key });
    this.#keepSoon(base, fresh);
    await this.#evict(base.no);
  }

  #keepSoon(base: KnowledgeBase, loaded: LoadedBase): void {
    const { thread, kept } = this.#options;
    if (loaded.keeping !== undefined || !kept.isDue(loaded)) return;
    const nKept = loaded.nUnkept;
    loaded.keeping = thread
      .ask('keep', { key: loaded.key, place: kept.placeOf(base) })
      .then(
        () => {
          loaded.nUnkept -= nKept;
        },
        (error) => {
          // Whoever was dropped meanwhile has nothing to keep.
          if (this.#bases.get(base.no) === loaded) kept.noteFailure(base, 'kept', error);
        },
      )
      .finally(() => {
        loaded.keeping = undefined;
      });
  }

  /** Drops those that were unused longest, and never the one that is asked. */
  async #evict(asked: number): Promise<void> {
    const others = [...this.#bases].filter(([no]) => no !== asked).sort((a, b) => a[1].lastUsedAt - b[1].lastUsedAt);
    for (const [no] of others) {
      if (this.sizeBytes <= this.#options.maxBytes) return;
      await this.drop(no);
    }
  }
}

function columnsOf(documents: readonly ChangedDocument[]): BaseDocuments {
  return {
    numbers: Float64Array.from(documents, ({ no }) => no),
    marks: Float64Array.from(documents, ({ id }) => documentMark(id)),
    counts: Uint32Array.from(documents, ({ nChunks }) => nChunks),
  };
}
