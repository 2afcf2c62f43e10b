/** Search in the collections of one module, whose indexes follow what the module stores. */
import type { Log } from '../../../platform/log/log.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { Embedders } from '../embedding/embedders.ts';
import type { IndexThread } from '../index/index-thread.ts';
import type { Collection, CollectionStore, FoundPassage, PassageScores } from './collection.ts';
import { CollectionIndexes } from './collection-indexes.ts';
import { IndexFollower } from './index-follower.ts';
import { IndexWarming } from './index-warming.ts';
import type { LoadedIndexes } from './loaded-indexes.ts';
import type { Reranker } from './reranker.ts';
import { type Question, Retriever } from './retriever.ts';
import type { SavedIndexes } from './saved-indexes.ts';

interface CollectionSearchOptions<C extends Collection, P extends FoundPassage, Filter> {
  readonly store: CollectionStore<C, P, Filter>;
  readonly thread: IndexThread;
  readonly loaded: LoadedIndexes;
  readonly saved: SavedIndexes;
  readonly embedders: Embedders;
  readonly reranker: Reranker;
  readonly log: Log;
}

export class CollectionSearch<C extends Collection, P extends FoundPassage, Filter> {
  readonly #saved: SavedIndexes;
  readonly #indexes: CollectionIndexes<C>;
  readonly #retriever: Retriever<C, P, Filter>;
  readonly #follower: IndexFollower<C>;
  readonly #warming: IndexWarming<C>;

  constructor({ store, thread, loaded, saved, embedders, reranker, log }: CollectionSearchOptions<C, P, Filter>) {
    this.#saved = saved;
    this.#indexes = new CollectionIndexes({ thread, loaded, documents: store, saved });
    this.#retriever = new Retriever({ embedders, indexes: this.#indexes, store, reranker });
    this.#follower = new IndexFollower({ indexes: this.#indexes, store, log });
    this.#warming = new IndexWarming({ indexes: this.#indexes, saved, loaded, store, log });
  }

  /** Best first; at most `k` of all collections together. Throws DomainError and StorageError. */
  async search(scope: TenantScope, collections: readonly C[], question: Question<Filter>): Promise<(P & PassageScores)[]> {
    return await this.#retriever.search(scope, collections, question);
  }

  /** The collection has got a document: its index is brought in line soon, so that the next search need not wait for that. */
  follow(scope: TenantScope, collection: C): void {
    this.#follower.note(scope, collection);
  }

  /** Makes the index again from what is stored, while the one that is there serves. */
  async rebuild(scope: TenantScope, collection: C): Promise<void> {
    await this.#indexes.rebuild(scope, collection);
  }

  /** The collection is gone, and its index with it. */
  async remove(collection: C): Promise<void> {
    await this.#indexes.remove(collection);
  }

  async start(): Promise<void> {
    await this.#saved.open();
    this.#warming.start();
    this.#follower.start();
  }

  /** Resolves when nothing is read any more, for which the index thread may have to be closed. */
  async stop(): Promise<void> {
    await Promise.all([this.#warming.stop(), this.#follower.stop()]);
  }
}
