/** Ranks the best passages again by a model that reads question and passage together, where one is installed. */
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { type EmbedOptions, type LocalModels, WORK } from '../embedding/embedder.ts';
import type { FoundPassage, PassageScores } from './collection.ts';

/** Quality falls with more (Jacob et al. 2024, arXiv 2411.11767), and each costs a model's pass. */
const MOST_RANKED = 30;
/** Listing the models looks at the disk. */
const LOOK_AGAIN_MS = 5_000;

export class Reranker {
  readonly #models: () => LocalModels;
  readonly #model: string;
  /** Of the models that are installed, looked for now and then. */
  #found: string | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** `model`: a name, `auto` for any that is installed, or `off`. */
  constructor(models: () => LocalModels, model: string) {
    this.#models = models;
    this.#model = model;
  }

  /** How many passages it wants to see; 0 where no model ranks. */
  async depth(): Promise<number> {
    return (await this.#find()) === undefined ? 0 : MOST_RANKED;
  }

  /** As they came, where no model ranks. */
  async rank<P extends FoundPassage & PassageScores>(
    question: string,
    results: readonly P[],
    options: EmbedOptions,
  ): Promise<readonly P[]> {
    const model = await this.#find();
    if (model === undefined || results.length < 2) return results;
    const best = results.slice(0, MOST_RANKED);
    try {
      const models = this.#models();
      const resolved = await models.resolve({ ability: 'rerank', model }, WORK);
      const { scores } = await models.rank(
        resolved,
        question,
        best.map(({ text }) => text),
        options,
      );
      const ranked = best.map((result, i) => withScore(result, scores[i] ?? 0)).sort((a, b) => b.score - a.score);
      return [...ranked, ...results.slice(MOST_RANKED).map((result) => ({ ...result, score: 0 }))];
    } catch (error) {
      // The first ranking is an answer as well; only what the caller did ends the search.
      if (!(error instanceof DomainError) || error.code === 'client_closed') throw error;
      return results;
    }
  }

  async #find(): Promise<string | undefined> {
    if (this.#model === 'off') return undefined;
    if (this.#model !== 'auto') return this.#model;
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_AGAIN_MS) return this.#found;
    const cards = await this.#models().models(WORK);
    this.#found = cards.find(
      ({ capabilities, state }) => capabilities.rerank && state !== 'unusable' && state !== 'inspecting',
    )?.id;
    this.#lookedAt = now;
    return this.#found;
  }
}

/** Models score by logits, or by numbers from 0 to 1; the order is the same. */
function withScore<P extends PassageScores>(result: P, logit: number): P {
  const score = 1 / (1 + Math.exp(-logit));
  return { ...result, score, relevance: Math.max(result.relevance, score) };
}
