/** Which model embeds: chosen once for each collection, which stays with it. */
import { retrievalError } from '../errors.ts';
import type { Embedded, EmbeddingBinding, EmbeddingSource, EmbedOptions } from './embedder.ts';
import type { LocalEmbedder } from './local-embedder.ts';
import type { RemoteEmbedder } from './remote-embedder.ts';

export interface EmbeddingChoice {
  readonly model: string;
  readonly source: EmbeddingSource;
}

export interface EmbeddersOptions {
  readonly local: LocalEmbedder;
  /** Undefined: the operator named no service. */
  readonly remote: RemoteEmbedder | undefined;
  /** The operator's choice for new collections. */
  readonly model: string;
}

export class Embedders {
  readonly #options: EmbeddersOptions;

  constructor(options: EmbeddersOptions) {
    this.#options = options;
  }

  /** Says plainly that not the model of the settings was chosen for a new collection; undefined where it was. */
  noteOn(chosen: string): string | undefined {
    const { model } = this.#options;
    if (chosen === model || chosen.startsWith(`${model}-`)) return undefined;
    return `${model} is not installed, so ${chosen} embeds this knowledge base for good. For better answers run \`svc models pull ${model}\` and make another one.`;
  }

  /** Throws `embedding_model_not_found`. */
  async choose(wanted?: string): Promise<EmbeddingChoice> {
    const { local, remote, model } = this.#options;
    const name = wanted ?? model;
    const installed = await local.find(name);
    if (installed !== undefined) return { model: installed, source: 'local' };
    if (await remote?.has(name)) return { model: name, source: 'remote' };
    const other = wanted === undefined ? await local.findAny() : undefined;
    if (other !== undefined) return { model: other, source: 'local' };
    throw retrievalError(
      'embedding_model_not_found',
      `No model named ${JSON.stringify(name)} makes embeddings here; \`svc models list\` shows those that do.`,
      {
        param: 'embedding_model',
      },
    );
  }

  /** Throws DomainError `embedding_failed` or `embedding_dimension_mismatch`. */
  async embed(collection: EmbeddingBinding, texts: readonly string[], options: EmbedOptions): Promise<Embedded> {
    const { embeddingModel: model, embeddingSource, dimensions } = collection;
    const embedder = embeddingSource === 'local' ? this.#options.local : this.#options.remote;
    if (embedder === undefined)
      throw retrievalError(
        'embedding_failed',
        `The knowledge base needs the embedding service that had ${model}, and none is configured.`,
      );
    const embedded = await embedder.embed(model, texts, options);
    const made = embedded.vectors[0]?.length ?? 0;
    if (dimensions === undefined || made === dimensions || texts.length === 0) return embedded;
    throw retrievalError(
      'embedding_dimension_mismatch',
      `${model} now makes vectors of ${made} dimensions, and those of the knowledge base have ${dimensions}; was the model replaced?`,
    );
  }
}
