/** Turns a document into chunks, a batch at a time: cut in the index thread, embedded by the base's model. */
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { Embedders } from '../embedding/embedders.ts';
import type { DocumentSource, PreparedPassage } from '../index/index-messages.ts';
import type { IndexThread } from '../index/index-thread.ts';
import type { KnowledgeBase, NewChunk } from '../knowledge-base.ts';
import { BATCH_PASSAGES, PREPARED_AT_ONCE } from './limits.ts';

export interface ChunkBatch {
  /** Place of the first one. */
  readonly from: number;
  readonly chunks: readonly NewChunk[];
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
  async *chunksOf(
    scope: TenantScope,
    base: KnowledgeBase,
    key: string,
    source: DocumentSource,
    from: number,
    signal: AbortSignal,
  ): AsyncGenerator<ChunkBatch> {
    const { nPassages, title } = await this.#thread.ask('cut', { key, source });
    try {
      for (let at = from; at < nPassages; at += BATCH_PASSAGES) {
        signal.throwIfAborted();
        const passages = await this.#take(key, at, Math.min(BATCH_PASSAGES, nPassages - at));
        const texts = passages.map(({ embedded }) => embedded);
        const { vectors } = await this.#embedders.embed(base, texts, { tenant: scope.tenant, signal, isBackground: true });
        const chunks = passages.map((passage, i) => toChunk(passage, base.embeddingModel, vectors[i] ?? new Float32Array(0)));
        yield { from: at, chunks, nPassages, title };
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

function toChunk({ embedded: _, ...passage }: PreparedPassage, embeddingModel: string, embedding: Float32Array): NewChunk {
  return { ...passage, embeddingModel, embedding };
}
