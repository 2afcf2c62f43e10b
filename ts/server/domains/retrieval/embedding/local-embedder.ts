/** Embeds with a model of this node. A text that is longer than the model's context is embedded in halves, whose mean stands for it. */
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { retrievalError } from '../errors.ts';
import {
  type Embedded,
  type Embedder,
  type EmbedOptions,
  type LocalModels,
  normalised,
  type ResolvedModel,
  WORK,
} from './embedder.ts';
import { prefixFamilyOf } from './text-prefixes.ts';

/** A shorter text that still does not fit means a context of nothing. */
const LEAST_HALF = 16;

export class LocalEmbedder implements Embedder {
  readonly #models: () => LocalModels;

  constructor(models: () => LocalModels) {
    this.#models = models;
  }

  /** Id of the installed model that goes by this name; undefined: none does. */
  async find(name: string): Promise<string | undefined> {
    try {
      const { card } = await this.#models().resolve({ ability: 'embeddings', model: name }, WORK);
      return card.capabilities.embeddings ? card.id : undefined;
    } catch {
      return undefined;
    }
  }

  /** What it wants to stand before its texts. */
  async prefixFamily(model: string): Promise<string> {
    const { card } = await this.#resolve(model);
    return prefixFamilyOf(card.id, card.title);
  }

  /** Undefined: nothing is measured of the model. */
  async contentHash(model: string, signal: AbortSignal): Promise<string | undefined> {
    const models = this.#models();
    return await models.contentHash?.(await this.#resolve(model), signal);
  }

  /** Any installed model that embeds: real ones before demonstrations, larger ones first. */
  async findAny(): Promise<string | undefined> {
    const cards = (await this.#models().models(WORK)).filter(
      ({ capabilities, state }) => capabilities.embeddings && state !== 'unusable',
    );
    const [best] = cards.sort(
      (a, b) =>
        Number(a.demonstration !== undefined) - Number(b.demonstration !== undefined) || (b.sizeBytes ?? 0) - (a.sizeBytes ?? 0),
    );
    return best?.id;
  }

  async embed(model: string, texts: readonly string[], options: EmbedOptions): Promise<Embedded> {
    const resolved = await this.#resolve(model);
    try {
      return await this.#models().embed(resolved, [...texts], options);
    } catch (error) {
      if (!isTooLong(error)) throw refusalOf(error, model);
    }
    const vectors: Float32Array[] = [];
    const nTokens: number[] = [];
    for (const text of texts) {
      const { vector, n } = await this.#embedLong(resolved, text, options);
      vectors.push(vector);
      nTokens.push(n);
    }
    return { vectors, nTokens };
  }

  async #embedLong(resolved: ResolvedModel, text: string, options: EmbedOptions): Promise<{ vector: Float32Array; n: number }> {
    try {
      const { vectors, nTokens = [] } = await this.#models().embed(resolved, [text], options);
      return { vector: vectors[0] ?? new Float32Array(0), n: nTokens[0] ?? 0 };
    } catch (error) {
      if (!isTooLong(error) || text.length < LEAST_HALF) throw refusalOf(error, resolved.card.id);
    }
    const middle = Math.floor(text.length / 2);
    const first = await this.#embedLong(resolved, text.slice(0, middle).toWellFormed(), options);
    const second = await this.#embedLong(resolved, text.slice(middle).toWellFormed(), options);
    return { vector: normalised(first.vector.map((value, i) => value + (second.vector[i] ?? 0))), n: first.n + second.n };
  }

  async #resolve(model: string): Promise<ResolvedModel> {
    try {
      return await this.#models().resolve({ ability: 'embeddings', model }, WORK);
    } catch (error) {
      throw refusalOf(error, model);
    }
  }
}

function isTooLong(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'context_length_exceeded';
}

/** What the client can wait for passes through; everything else says that the embedding failed, and why. */
function refusalOf(error: unknown, model: string): Error {
  if (!(error instanceof DomainError)) return error as Error;
  const { retryAfterMs, message } = error;
  return retrievalError('embedding_failed', `The model ${model} did not embed the text: ${message}`, {
    cause: error,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
