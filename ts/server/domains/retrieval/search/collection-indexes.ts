/**
 * Keeps the index thread in step with the database. Each collection counts its changes; before a search, what has changed since the last one is
 * read and added or removed. So every node of a database finds what any of them acknowledged, and nothing that was deleted.
 *
 * Large indexes are saved in files, from which they are opened at the next start; what changed since is told from the documents themselves.
 */
import { createHash } from 'node:crypto';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { retrievalError } from '../errors.ts';
import type { DocumentColumns, IndexHit, IndexQuery, OpenedIndex } from '../index/index-messages.ts';
import type { IndexThread } from '../index/index-thread.ts';
import type { ChangedDocument, Collection, IndexedDocuments } from './collection.ts';
import type { LoadedIndex, LoadedIndexes } from './loaded-indexes.ts';
import type { SavedIndexes } from './saved-indexes.ts';

interface CollectionIndexesOptions<C extends Collection> {
  readonly thread: IndexThread;
  readonly loaded: LoadedIndexes;
  readonly documents: IndexedDocuments<C>;
  readonly saved: SavedIndexes;
}

/** An index that is dropped between loading and searching is loaded again. */
const SEARCH_TRIES = 3;

export class CollectionIndexes<C extends Collection> {
  readonly #options: CollectionIndexesOptions<C>;
  readonly #rebuilds = new Map<string, Promise<void>>();

  constructor(options: CollectionIndexesOptions<C>) {
    this.#options = options;
  }

  /** `collection` as it was just read: what it counts is what the search sees. Throws DomainError `index_unavailable`, and StorageError. */
  async search(scope: TenantScope, collection: C, query: IndexQuery): Promise<readonly IndexHit[]> {
    for (let i = 0; i < SEARCH_TRIES; i++) {
      const { key } = await this.#load(scope, collection);
      const { hits } = await this.#options.thread.ask('search', { key, query });
      if (hits !== undefined) return hits;
    }
    throw retrievalError('index_unavailable', 'There is not enough memory for the indexes that are asked; ask again.', {
      retryAfterMs: 1_000,
    });
  }

  /** Resolves when the thread has the collection as it is. */
  async load(scope: TenantScope, collection: C): Promise<void> {
    await this.#load(scope, collection);
  }

  /**
   * Makes the index anew from what is stored, while the one that is there serves, and takes its place when it searches as fast. Who asks
   * while it is under way waits for the same. Throws DomainError `index_unavailable`, and StorageError.
   */
  rebuild(scope: TenantScope, collection: C): Promise<void> {
    const running = this.#rebuilds.get(collection.id);
    if (running !== undefined) return running;
    const started = this.#rebuild(scope, collection)
      .catch((error) => {
        this.#options.saved.noteFailure(collection, 'rebuilt', error);
        throw error;
      })
      .finally(() => this.#rebuilds.delete(collection.id));
    this.#rebuilds.set(collection.id, started);
    return started;
  }

  /** The collection is gone. */
  async remove(collection: C): Promise<void> {
    const rebuild = this.#rebuilds.get(collection.id);
    if (rebuild !== undefined) void rebuild.then(() => this.remove(collection)).catch(() => undefined);
    const saving = this.#options.loaded.find(collection.id)?.saving;
    await this.#options.loaded.drop(collection.id);
    // Nothing is written any more into the folder that goes.
    await saving;
    await this.#options.saved.remove(collection);
  }

  async #load(scope: TenantScope, collection: C): Promise<LoadedIndex> {
    const loaded = this.#options.loaded.find(collection.id) ?? this.#options.loaded.create();
    this.#options.loaded.set(collection.id, loaded);
    loaded.lastUsedAt = performance.now();
    const work = loaded.work.catch(() => undefined).then(() => this.#catchUp(scope, collection, loaded));
    loaded.work = work;
    await work;
    return loaded;
  }

  async #catchUp(scope: TenantScope, collection: C, loaded: LoadedIndex): Promise<void> {
    const isCurrent = () => this.#options.loaded.find(collection.id) === loaded;
    if (!isCurrent() || (loaded.isOpen && collection.version <= loaded.version)) return;
    try {
      await this.#fill(scope, collection, loaded, true);
    } catch (error) {
      if (isCurrent()) {
        // Half of a document may be there.
        void this.#options.loaded.drop(collection.id).catch(() => undefined);
        throw error;
      }
    }
    // Dropped meanwhile, or another one has its place, which whoever searches looks for then. It may have been opened after it was dropped.
    if (!isCurrent()) return void (await this.#options.thread.ask('drop', { key: loaded.key }));
    this.#saveSoon(collection, loaded);
    await this.#options.loaded.evict(collection.id);
  }

  /** Brings the thread's index in line with what is stored. */
  async #fill(scope: TenantScope, collection: C, loaded: LoadedIndex, mayBeSaved: boolean): Promise<void> {
    const { thread, documents } = this.#options;
    // Deletions that were forgotten since cannot be told apart from documents that are still there.
    const isWhole = !loaded.isOpen || loaded.version < collection.sweptVersion;
    const changes = await documents.listChanges(scope, collection, isWhole ? 0 : loaded.version);
    const ready = changes.filter(({ isReady }) => isReady);
    let added = ready;
    if (isWhole) {
      const { missing, isSparse } = await this.#align(collection, loaded, columnsOf(ready), mayBeSaved);
      const isMissing = new Set(missing);
      added = ready.filter(({ no }) => isMissing.has(no));
      this.#thin(scope, collection, { isSparse });
    } else {
      const removed = changes.filter(({ isReady }) => !isReady).map(({ no }) => no);
      if (removed.length > 0)
        this.#thin(scope, collection, await thread.ask('remove', { key: loaded.key, documentNos: removed }));
    }
    const markOf = new Map(added.map(({ no, id }) => [no, documentMark(id)]));
    for await (const passages of documents.readForIndex(
      scope,
      added.map(({ no }) => no),
    )) {
      const marked = passages.map((passage) => ({ ...passage, mark: markOf.get(passage.documentNo) }));
      const size = await thread.ask('add', { key: loaded.key, passages: marked });
      Object.assign(loaded, size);
      loaded.nUnsaved += passages.length;
    }
    loaded.version = collection.version;
  }

  /** Opens the index, or compares the one that is open, with the documents that there are. Answers with those that it lacks. */
  async #align(
    collection: C,
    loaded: LoadedIndex,
    documents: DocumentColumns,
    mayBeSaved: boolean,
  ): Promise<Pick<OpenedIndex, 'missing' | 'isSparse'>> {
    const { thread, saved } = this.#options;
    if (loaded.isOpen) return await thread.ask('reconcile', { key: loaded.key, documents });
    const place = mayBeSaved ? saved.placeOf(collection) : undefined;
    const opened = await thread.ask('open', { key: loaded.key, label: collection.id, saved: place, documents });
    saved.note(collection, opened);
    Object.assign(loaded, { isOpen: true, sizeBytes: opened.sizeBytes, nPassages: opened.nPassages });
    return opened;
  }

  /** An index of which most was removed is made anew. */
  #thin(scope: TenantScope, collection: C, { isSparse }: Pick<OpenedIndex, 'isSparse'>): void {
    if (isSparse) void this.rebuild(scope, collection).catch(() => undefined);
  }

  async #rebuild(scope: TenantScope, collection: C): Promise<void> {
    const { thread } = this.#options;
    const fresh = this.#options.loaded.create();
    const before = this.#options.loaded.find(collection.id);
    try {
      await this.#fill(scope, collection, fresh, false);
      await thread.ask('link', { key: fresh.key });
    } catch (error) {
      void thread.ask('drop', { key: fresh.key }).catch(() => undefined);
      throw error;
    }
    const old = this.#options.loaded.find(collection.id);
    // Nobody has it any more: it was dropped, or the collection is gone.
    if (before !== undefined && old === undefined) return void (await thread.ask('drop', { key: fresh.key }));
    this.#options.loaded.set(collection.id, fresh);
    if (old !== undefined) await thread.ask('drop', { key: old.key });
    this.#saveSoon(collection, fresh);
    await this.#options.loaded.evict(collection.id);
  }

  #saveSoon(collection: C, loaded: LoadedIndex): void {
    const { thread, saved } = this.#options;
    if (loaded.saving !== undefined || !saved.isDue(loaded)) return;
    const nSaved = loaded.nUnsaved;
    loaded.saving = thread
      .ask('save', { key: loaded.key, place: saved.placeOf(collection) })
      .then(
        () => {
          loaded.nUnsaved -= nSaved;
        },
        (error) => {
          // Whoever was dropped meanwhile has nothing to save.
          if (this.#options.loaded.find(collection.id) === loaded) saved.noteFailure(collection, 'kept', error);
        },
      )
      .finally(() => {
        loaded.saving = undefined;
      });
  }
}

function columnsOf(documents: readonly ChangedDocument[]): DocumentColumns {
  return {
    numbers: Float64Array.from(documents, ({ no }) => no),
    marks: Float64Array.from(documents, ({ id }) => documentMark(id)),
    counts: Uint32Array.from(documents, ({ nChunks }) => nChunks),
  };
}

const MARK_DIGITS = 12;

/**
 * A number that tells a document from others: databases that were restored from a backup give the same numbers to other documents, and an
 * index that was saved meanwhile must not take one for the other.
 */
function documentMark(id: string): number {
  return Number.parseInt(createHash('sha256').update(id).digest('hex').slice(0, MARK_DIGITS), 16);
}
