/** Which model embeds: chosen once for each collection, which stays with it. */
import { setTimeout as wait } from 'node:timers/promises';
import { retrievalError } from '../errors.ts';
import type { Embedded, EmbeddingBinding, EmbeddingSource, EmbedOptions } from './embedder.ts';
import type { LocalEmbedder } from './local-embedder.ts';
import type { RemoteEmbedder } from './remote-embedder.ts';
import { type MeasuredSimilarity, measureSimilarity, PLAIN_SCALE, type SimilarityScale, scaleOf } from './similarity-scale.ts';
import { NO_PREFIXES, prefixesOf, prefixFamilyOf } from './text-prefixes.ts';

interface EmbeddingChoice {
  readonly model: string;
  readonly source: EmbeddingSource;
  /** The family of its prefixes. */
  readonly prefixes: string;
}

type EmbeddedKind = 'query' | 'passage';

interface EmbeddersOptions {
  readonly local: LocalEmbedder;
  /** Undefined: the operator named no service. */
  readonly remote: RemoteEmbedder | undefined;
  /** The operator's choice for new collections. */
  readonly model: string;
  /** What was measured of models, by the hashes of their files. */
  readonly measured: {
    find(key: string): MeasuredSimilarity | undefined;
    keep(key: string, measured: MeasuredSimilarity): Promise<void>;
  };
}

/** In the engine's fair shares the node is a tenant as others are. */
const NODE = 'node';
const MEASURE_MS = 120_000;
/** Most that a search waits for it: a small model takes less, also beside others' work. */
const SCALE_MS = 3_000;
const RETRY_MS = 60_000;

export class Embedders {
  readonly #options: EmbeddersOptions;
  /** By source, model and prefixes. */
  readonly #scales = new Map<string, Promise<SimilarityScale>>();
  readonly #known = new Map<string, SimilarityScale>();

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
    if (installed !== undefined) return { model: installed, source: 'local', prefixes: await local.prefixFamily(installed) };
    if (await remote?.has(name)) return { model: name, source: 'remote', prefixes: prefixFamilyOf(name) };
    const other = wanted === undefined ? await local.findAny() : undefined;
    if (other !== undefined) return { model: other, source: 'local', prefixes: await local.prefixFamily(other) };
    throw retrievalError(
      'embedding_model_not_found',
      `No model named ${JSON.stringify(name)} makes embeddings here; \`svc models list\` shows those that do.`,
      {
        param: 'embedding_model',
      },
    );
  }

  /** Throws DomainError `embedding_failed` or `embedding_dimension_mismatch`. */
  async embed(
    collection: EmbeddingBinding,
    kind: EmbeddedKind,
    texts: readonly string[],
    options: EmbedOptions,
  ): Promise<Embedded> {
    const { embeddingModel: model, dimensions } = collection;
    const embedded = await this.#embedder(collection).embed(model, prefixed(collection, kind, texts), options);
    const made = embedded.vectors[0]?.length ?? 0;
    if (dimensions === undefined || made === dimensions || texts.length === 0) return embedded;
    throw retrievalError(
      'embedding_dimension_mismatch',
      `${model} now makes vectors of ${made} dimensions, and those of the knowledge base have ${dimensions}; was the model replaced?`,
    );
  }

  /** What a collection lacks that was embedded before its model's prefixes were known; undefined: nothing. */
  async staleNote({
    embeddingModel: model,
    embeddingSource,
    prefixes = NO_PREFIXES,
  }: EmbeddingBinding): Promise<string | undefined> {
    const wanted =
      embeddingSource === 'local' ? await this.#options.local.prefixFamily(model).catch(() => prefixes) : prefixFamilyOf(model);
    if (wanted === prefixes) return undefined;
    return `Its documents were embedded without the words that ${model} wants before questions and passages, and so are its questions. For better answers add the documents to another knowledge base.`;
  }

  /**
   * How the model's cosines are compared with those that the search was tuned with. A search waits for what was measured, which is read at the first
   * one; where it takes long, cosines count as they are for now.
   */
  async scale(collection: EmbeddingBinding): Promise<SimilarityScale> {
    const known = this.#known.get(keyOf(collection));
    if (known !== undefined) return known;
    const given = new AbortController();
    const late = wait(SCALE_MS, PLAIN_SCALE, { ref: false, signal: given.signal }).catch(() => PLAIN_SCALE);
    const scale = await Promise.race([this.measure(collection), late]);
    given.abort();
    return scale;
  }

  /** Measures the model where that was never done. Never rejects: what fails is tried again later. */
  measure(collection: EmbeddingBinding): Promise<SimilarityScale> {
    const key = keyOf(collection);
    const running = this.#scales.get(key);
    if (running !== undefined) return running;
    const measured = this.#measure(collection).then(
      (scale) => {
        this.#known.set(key, scale);
        return scale;
      },
      () => {
        void wait(RETRY_MS, undefined, { ref: false }).then(() => this.#scales.delete(key));
        return PLAIN_SCALE;
      },
    );
    this.#scales.set(key, measured);
    return measured;
  }

  async #measure(collection: EmbeddingBinding): Promise<SimilarityScale> {
    const { embeddingModel: model, embeddingSource, prefixes = NO_PREFIXES } = collection;
    const { local, measured } = this.#options;
    const signal = AbortSignal.timeout(MEASURE_MS);
    const hash = embeddingSource === 'local' ? await local.contentHash(model, signal) : undefined;
    if (embeddingSource === 'local' && hash === undefined) return PLAIN_SCALE;
    const key = `${hash} ${prefixes}`;
    const kept = hash === undefined ? undefined : measured.find(key);
    if (kept !== undefined) return scaleOf(kept);
    const found = await measureSimilarity(prefixesOf(prefixes), async (texts) => {
      const { vectors } = await this.#embedder(collection).embed(model, texts, { tenant: NODE, signal, isBackground: true });
      return vectors;
    });
    if (hash !== undefined) await measured.keep(key, found);
    return scaleOf(found);
  }

  /** Throws DomainError `embedding_failed`. */
  #embedder({ embeddingModel: model, embeddingSource }: EmbeddingBinding): LocalEmbedder | RemoteEmbedder {
    const embedder = embeddingSource === 'local' ? this.#options.local : this.#options.remote;
    if (embedder !== undefined) return embedder;
    throw retrievalError(
      'embedding_failed',
      `The knowledge base needs the embedding service that had ${model}, and none is configured.`,
    );
  }
}

function keyOf({ embeddingModel, embeddingSource, prefixes = NO_PREFIXES }: EmbeddingBinding): string {
  return `${embeddingSource} ${prefixes} ${embeddingModel}`;
}

/** As the model reads them. */
export function prefixed({ prefixes }: EmbeddingBinding, kind: EmbeddedKind, texts: readonly string[]): readonly string[] {
  const prefix = prefixesOf(prefixes)[kind];
  return prefix === '' ? texts : texts.map((text) => prefix + text);
}
