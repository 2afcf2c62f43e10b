/** Opens saved indexes when the node starts, in the background, so that the first question need not wait for one that is to be made anew. */
import type { Log } from '../../../platform/log/log.ts';
import { systemScope, tenantScope } from '../../../platform/storage/index.ts';
import type { Collection, CollectionStore } from './collection.ts';
import type { CollectionIndexes } from './collection-indexes.ts';
import type { LoadedIndexes } from './loaded-indexes.ts';
import type { SavedIndexes } from './saved-indexes.ts';

interface IndexWarmingOptions<C extends Collection> {
  readonly indexes: Pick<CollectionIndexes<C>, 'load'>;
  readonly saved: SavedIndexes;
  /** No more are opened when it is full. */
  readonly loaded: LoadedIndexes;
  readonly store: Pick<CollectionStore<C, never, never>, 'listFilled'>;
  readonly log: Log;
}

export class IndexWarming<C extends Collection> {
  readonly #options: IndexWarmingOptions<C>;
  #isStopped = true;
  #work: Promise<void> = Promise.resolve();

  constructor(options: IndexWarmingOptions<C>) {
    this.#options = options;
  }

  /** Resolves when there is no more to open. */
  get done(): Promise<void> {
    return this.#work;
  }

  start(): void {
    this.#isStopped = false;
    this.#work = this.#warm().catch((error) => {
      if (!this.#isStopped)
        this.#options.log.warn('kept indexes of knowledge bases were not opened; they are when they are asked', {
          error: String(error),
        });
    });
  }

  /** Resolves when nothing is read any more, for which the index thread may have to be closed. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
  }

  async #warm(): Promise<void> {
    const { indexes, saved, loaded, store } = this.#options;
    const all = await saved.listSaved(await store.listFilled(systemScope()));
    for (const { tenant, collection } of all.sort((a, b) => b.collection.usedAt - a.collection.usedAt)) {
      if (this.#isStopped || loaded.isFull) return;
      await indexes.load(tenantScope(tenant), collection);
    }
  }
}
