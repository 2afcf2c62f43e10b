/** Finds the passages that answer a question: by terms and vectors in each collection, ranked again together. */
import type { TenantScope } from '../../../platform/storage/index.ts';
import { type Embedders, prefixed } from '../embedding/embedders.ts';
import type { SimilarityScale } from '../embedding/similarity-scale.ts';
import type { IndexHit } from '../index/index-messages.ts';
import { termsOf } from '../terms/terms.ts';
import type { Collection, CollectionStore, FoundPassage, PassageKey, PassageScores } from './collection.ts';
import type { CollectionIndexes } from './collection-indexes.ts';
import type { Reranker } from './reranker.ts';

type SearchMode = 'hybrid' | 'lexical' | 'dense';

export interface Question<Filter = unknown> {
  readonly text: string;
  /** Most results. */
  readonly k: number;
  readonly mode?: SearchMode;
  readonly filter?: Filter | undefined;
  /** How much vectors count beside terms, 0 to 1; default: as the language of the question and what its terms find allow. */
  readonly denseWeight?: number | undefined;
  /** False: no model ranks again. */
  readonly isRanked?: boolean | undefined;
  readonly signal: AbortSignal;
  /** Called for each collection when the question is embedded for it. */
  readonly onEmbedded?: () => void;
}

export interface RetrieverOptions<C extends Collection, P extends FoundPassage, Filter> {
  readonly embedders: Embedders;
  readonly indexes: CollectionIndexes<C>;
  readonly store: CollectionStore<C, P, Filter>;
  readonly reranker: Reranker;
}

/** Beyond, terms are ignored and models cut. */
export const MAX_QUESTION = 4_000;
/** Of each collection: some of one page come behind others, and some were deleted a moment ago. */
const LEAST_HITS = 10;

export class Retriever<C extends Collection, P extends FoundPassage, Filter> {
  readonly #options: RetrieverOptions<C, P, Filter>;

  constructor(options: RetrieverOptions<C, P, Filter>) {
    this.#options = options;
  }

  /** Best first; at most `k` of all collections together. Throws DomainError and StorageError. */
  async search(scope: TenantScope, collections: readonly C[], question: Question<Filter>): Promise<(P & PassageScores)[]> {
    const found = await Promise.all(collections.map((collection) => this.#searchOne(scope, collection, question)));
    const options = { tenant: scope.tenant, signal: question.signal };
    const ordered = comparable(found).sort((a, b) => b.score - a.score || a.documentNo - b.documentNo || a.seq - b.seq);
    const isRanked = (question.mode ?? 'hybrid') === 'hybrid' && question.isRanked !== false;
    const ranked = isRanked
      ? await this.#options.reranker.rank(question.text.slice(0, MAX_QUESTION).toWellFormed(), ordered, options)
      : ordered;
    return diversify(ranked).slice(0, question.k);
  }

  async #searchOne(scope: TenantScope, collection: C, question: Question<Filter>): Promise<(P & PassageScores)[]> {
    const { embedders, indexes, store, reranker } = this.#options;
    const { mode = 'hybrid', filter, k, signal } = question;
    const text = question.text.slice(0, MAX_QUESTION).toWellFormed();
    // Before its first document a collection has nothing that a vector could be compared with.
    if (collection.version === 0) return [];
    const allowed = filter === undefined ? undefined : await store.listMatching(scope, collection, filter);
    const needsVector = mode !== 'lexical';
    const embedded = needsVector
      ? await embedders.embed(collection, 'query', [text], { tenant: scope.tenant, signal })
      : undefined;
    const isWeightStated = question.denseWeight !== undefined;
    const { denseWeight, isByRanks } =
      question.denseWeight === undefined
        ? fusionOf(mode, prefixed(collection, 'query', [text])[0] ?? text, embedded?.nTokens?.[0])
        : { denseWeight: question.denseWeight, isByRanks: false };
    const scale = await embedders.scale(collection);
    question.onEmbedded?.();
    const hits = await indexes.search(scope, collection, {
      question: text,
      vector: embedded?.vectors[0],
      denseWeight,
      isWeightStated,
      isByRanks,
      scale,
      k: Math.max(LEAST_HITS, 2 * k, mode === 'hybrid' ? await reranker.depth() : 0),
      documents: allowed,
    });
    const rows = new Map((await store.readPassages(scope, collection, hits)).map((passage) => [keyOf(passage), passage]));
    return hits.flatMap((hit) => {
      const passage = rows.get(keyOf(hit));
      if (passage === undefined) return [];
      const denseScore = needsVector ? hit.dense : undefined;
      const relevance = relevanceOf(hit, denseWeight > 0 ? hit.dense : undefined, scale);
      return [{ ...passage, score: hit.score, lexicalScore: hit.lexical, denseScore, relevance }];
    });
  }
}

function keyOf({ documentNo, seq }: PassageKey): string {
  return `${documentNo} ${seq}`;
}

/** Unrelated texts have some cosine too; below this one says nothing. Of the model that the search was tuned with. */
const LEAST_COSINE = 0.35;

function relevanceOf({ coverage }: IndexHit, cosine: number | undefined, { factor, offset }: SimilarityScale): number {
  const near = cosine === undefined ? 0 : Math.max(0, (factor * cosine + offset - LEAST_COSINE) / (1 - LEAST_COSINE));
  return Math.min(1, Math.max(coverage, near));
}

/** Scores are relative to the best of their collection; between collections, that best counts as much as it is relevant. */
function comparable<P extends PassageScores>(found: readonly P[][]): P[] {
  const best = found.map((results) => Math.max(0, ...results.map(({ relevance }) => relevance)));
  const overall = Math.max(...best, Number.MIN_VALUE);
  return found.flatMap((results, i) =>
    results.map((result) => ({ ...result, score: result.score * ((best[i] ?? 0) / overall) })),
  );
}

/** Chosen on one half of the evaluation's questions, reported on the other. */
const HYBRID_WEIGHT = 0.25;
/** Tokens of one word, above which the model begins to spell it, and at which it knows nothing of it. */
const KNOWN_TOKENS = 2.2;
const SPELT_TOKENS = 3.2;

/** How terms and vectors become one ranking. */
interface Fusion {
  readonly denseWeight: number;
  readonly isByRanks: boolean;
}

/** Of a service that does not say how it cuts texts nothing is known, so ranks count in the place of a weight that was tuned for others. */
export function fusionOf(mode: SearchMode, question: string, nTokens: number | undefined): Fusion {
  return { denseWeight: denseWeightOf(mode, question, nTokens), isByRanks: mode === 'hybrid' && nTokens === undefined };
}

/** A model that cuts a question into letters does not know its language, and its vectors would only blur what the terms say. */
function denseWeightOf(mode: SearchMode, question: string, nTokens: number | undefined): number {
  if (mode === 'lexical') return 0;
  if (mode === 'dense') return 1;
  if (nTokens === undefined) return HYBRID_WEIGHT;
  const nWords = Math.max(1, [...termsOf(question)].filter(({ kind }) => kind === 'stem').length);
  const share = (SPELT_TOKENS - nTokens / nWords) / (SPELT_TOKENS - KNOWN_TOKENS);
  return HYBRID_WEIGHT * Math.max(0, Math.min(1, share));
}

/** Passages of one page, sheet or slide say much the same; more of them come behind all others. */
const MOST_OF_PAGE = 3;
/** Share of a passage that stands in better ones too, from which on it adds little to them. Neighbours share less than that. */
const MOSTLY_REPEATED = 0.5;

/** Brings passages that add little to better ones behind all others. `results` has the best first, and none is left out. */
export function diversify<P extends FoundPassage>(results: readonly P[]): P[] {
  const counts = new Map<string, number>();
  const first: P[] = [];
  const rest: P[] = [];
  for (const result of results) {
    const place = placeOf(result);
    const isCrowded = place !== undefined && (counts.get(place) ?? 0) >= MOST_OF_PAGE;
    if (isCrowded || repeatedShare(result, first) >= MOSTLY_REPEATED) {
      rest.push(result);
      continue;
    }
    if (place !== undefined) counts.set(place, (counts.get(place) ?? 0) + 1);
    first.push(result);
  }
  return [...first, ...rest];
}

/** Undefined: the document has neither pages nor sheets nor slides, and is no page itself. */
function placeOf({ documentNo, page, sheet, slide }: FoundPassage): string | undefined {
  if (page === undefined && sheet === undefined && slide === undefined) return undefined;
  return JSON.stringify([documentNo, page, sheet, slide]);
}

function repeatedShare({ documentNo, start, end }: FoundPassage, chosen: readonly FoundPassage[]): number {
  const shared = chosen
    .filter((other) => other.documentNo === documentNo)
    .reduce((sum, other) => sum + Math.max(0, Math.min(end, other.end) - Math.max(start, other.start)), 0);
  return shared / Math.max(1, end - start);
}
