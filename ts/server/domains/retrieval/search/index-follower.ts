/** Brings indexes in line with documents that are being added, so that the first question after many of them need not wait for all. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../../../platform/log/log.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { Collection, CollectionStore } from './collection.ts';
import type { CollectionIndexes } from './collection-indexes.ts';

interface IndexFollowerOptions<C extends Collection> {
  readonly indexes: Pick<CollectionIndexes<C>, 'load'>;
  readonly store: Pick<CollectionStore<C, never, never>, 'find'>;
  readonly log: Log;
  /** What is added within this time is taken together. */
  readonly pauseMs?: number;
}

interface Filled<C> {
  readonly scope: TenantScope;
  readonly collection: C;
}

const PAUSE_MS = 1_000;

export class IndexFollower<C extends Collection> {
  readonly #options: IndexFollowerOptions<C>;
  readonly #filled = new Map<string, Filled<C>>();
  #end = new AbortController();
  #work: Promise<void> | undefined;

  constructor(options: IndexFollowerOptions<C>) {
    this.#options = options;
  }

  /** The collection has got a document. */
  note(scope: TenantScope, collection: C): void {
    if (this.#end.signal.aborted) return;
    this.#filled.set(collection.id, { scope, collection });
    this.#work ??= this.#follow().finally(() => {
      this.#work = undefined;
    });
  }

  start(): void {
    this.#end = new AbortController();
  }

  /** Resolves when nothing is read any more. */
  async stop(): Promise<void> {
    this.#end.abort();
    this.#filled.clear();
    await this.#work;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#end;
    while (this.#filled.size > 0) {
      await wait(this.#options.pauseMs ?? PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      const filled = [...this.#filled.values()];
      this.#filled.clear();
      for (const one of filled) await this.#load(one, signal);
    }
  }

  /** A search loads what is missing, so that a failure costs time alone. */
  async #load({ scope, collection }: Filled<C>, signal: AbortSignal): Promise<void> {
    const { indexes, store, log } = this.#options;
    try {
      const now = await store.find(scope, collection);
      if (now !== undefined && !signal.aborted) await indexes.load(scope, now);
    } catch (error) {
      if (!signal.aborted)
        log.warn('the index of a knowledge base does not follow its documents; the next search loads it', {
          error: String(error),
        });
    }
  }
}
