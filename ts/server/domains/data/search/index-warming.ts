/** Opens kept indexes when the node starts, in the background, so that the first question need not wait for one that is to be made anew. */
import type { Log } from '../../../platform/log/log.ts';
import { systemScope, tenantScope } from '../../../platform/storage/index.ts';
import type { BaseStore } from '../store/base-store.ts';
import type { KeptIndexes } from './kept-indexes.ts';
import type { KnowledgeIndex } from './knowledge-index.ts';

export interface IndexWarmingOptions {
  readonly index: KnowledgeIndex;
  readonly kept: KeptIndexes;
  readonly bases: Pick<BaseStore, 'listFilled'>;
  readonly log: Log;
  /** No more are opened when they take so much memory. */
  readonly maxBytes: number;
}

export class IndexWarming {
  readonly #options: IndexWarmingOptions;
  #isStopped = true;
  #work: Promise<void> = Promise.resolve();

  constructor(options: IndexWarmingOptions) {
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
    const { index, kept, bases, maxBytes } = this.#options;
    const all = await kept.listKept(await bases.listFilled(systemScope()));
    for (const { tenant, base } of all.sort((a, b) => b.base.usedAt - a.base.usedAt)) {
      if (this.#isStopped || index.sizeBytes >= maxBytes) return;
      await index.load(tenantScope(tenant), base);
    }
  }
}
