/** Turns a document into passages with embeddings, a batch at a time: cut in the index thread, embedded by the collection's model. */
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { IndexThread } from '../index/index-thread.ts';
import type { DocumentSource, PreparedPassage } from '../passages/cut-source.ts';
import type { EmbeddingBinding } from './embedder.ts';
import type { Embedders } from './embedders.ts';

/** Passages that are embedded and stored together. */
const BATCH_PASSAGES = 32;
/** Passages whose terms are made in one go, while no search is answered. */
const PREPARED_AT_ONCE = 4;

/** A passage with its embedding, as it is stored. */
export interface EmbeddedPassage extends Omit<PreparedPassage, 'embedded'> {
  readonly embeddingModel: string;
  readonly embedding: Float32Array;
}

interface PassageBatch {
  /** Place of the first one. */
  readonly from: number;
  readonly passages: readonly EmbeddedPassage[];
  readonly nPassages: number;
  /** As it was given, else the document's own. */
  readonly title: string | undefined;
}

export class PassageEmbedding {
  readonly #thread: IndexThread;
  readonly #embedders: Embedders;

  constructor(thread: IndexThread, embedders: Embedders) {
    this.#thread = thread;
    this.#embedders = embedders;
  }

  /** Batches from the passage `from` on. `key` names the document among those that are being cut. */
  async *embed(
    scope: TenantScope,
    binding: EmbeddingBinding,
    key: string,
    source: DocumentSource,
    from: number,
    signal: AbortSignal,
  ): AsyncGenerator<PassageBatch> {
    const { nPassages, title } = await this.#thread.ask('cut', { key, source });
    try {
      // Once for each model: the first search finds it done.
      await this.#embedders.measure(binding);
      for (let at = from; at < nPassages; at += BATCH_PASSAGES) {
        signal.throwIfAborted();
        const prepared = await this.#take(key, at, Math.min(BATCH_PASSAGES, nPassages - at));
        const texts = prepared.map(({ embedded }) => embedded);
        const { vectors } = await this.#embedders.embed(binding, 'passage', texts, {
          tenant: scope.tenant,
          signal,
          isBackground: true,
        });
        const { embeddingModel } = binding;
        const passages = prepared.map(({ embedded: _, ...passage }, i) => {
          return { ...passage, embeddingModel, embedding: vectors[i] ?? new Float32Array(0) };
        });
        yield { from: at, passages, nPassages, title };
      }
    } finally {
      await this.#thread.ask('release', { key }).catch(() => undefined);
    }
  }

  /** A few at a time, between which the thread answers searches. */
  async #take(key: string, from: number, count: number): Promise<PreparedPassage[]> {
    const taken: PreparedPassage[] = [];
    for (let at = 0; at < count; at += PREPARED_AT_ONCE) {
      const part = { key, from: from + at, count: Math.min(PREPARED_AT_ONCE, count - at) };
      taken.push(...(await this.#thread.ask('take', part)).passages);
    }
    return taken;
  }
}
