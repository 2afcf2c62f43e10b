/** Brings indexes in line with documents that are being added, so that the first question after many of them need not wait for all. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../../../platform/log/log.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { KnowledgeBase } from '../knowledge-base.ts';
import type { BaseStore } from '../store/base-store.ts';
import type { KnowledgeIndex } from './knowledge-index.ts';

export interface IndexFollowerOptions {
  readonly index: Pick<KnowledgeIndex, 'load'>;
  readonly bases: Pick<BaseStore, 'find'>;
  readonly log: Log;
  /** What is added within this time is taken together. */
  readonly pauseMs?: number;
}

interface FilledBase {
  readonly scope: TenantScope;
  readonly namespace: string;
}

const PAUSE_MS = 1_000;

export class IndexFollower {
  readonly #options: IndexFollowerOptions;
  readonly #filled = new Map<number, FilledBase>();
  #end = new AbortController();
  #work: Promise<void> | undefined;

  constructor(options: IndexFollowerOptions) {
    this.#options = options;
  }

  /** The base has got a document. */
  note(scope: TenantScope, { no, namespace }: Pick<KnowledgeBase, 'no' | 'namespace'>): void {
    if (this.#end.signal.aborted) return;
    this.#filled.set(no, { scope, namespace });
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
  async #load({ scope, namespace }: FilledBase, signal: AbortSignal): Promise<void> {
    const { index, bases, log } = this.#options;
    try {
      const base = await bases.find(scope, namespace);
      if (base !== undefined && !signal.aborted) await index.load(scope, base);
    } catch (error) {
      if (!signal.aborted)
        log.warn('the index of a knowledge base does not follow its documents; the next search loads it', {
          error: String(error),
        });
    }
  }
}
