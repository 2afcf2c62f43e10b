/** Finds the passages that answer a question: by terms and vectors in each base, ranked again together. */
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { Embedders } from '../embedding/embedders.ts';
import type { IndexHit } from '../index/index-messages.ts';
import type { DocumentFilter, KnowledgeBase } from '../knowledge-base.ts';
import type { ChunkStore } from '../store/chunk-store.ts';
import type { DocumentStore } from '../store/document-store.ts';
import { fusionOf, type SearchMode } from './dense-weight.ts';
import type { KnowledgeIndex } from './knowledge-index.ts';
import { diversified, type PassageResult } from './passage-result.ts';
import type { Reranker } from './reranker.ts';

export interface Question {
  readonly text: string;
  /** Most results. */
  readonly k: number;
  readonly mode?: SearchMode;
  readonly filter?: DocumentFilter | undefined;
  /** How much vectors count beside terms, 0 to 1; default: as the language of the question allows. */
  readonly denseWeight?: number | undefined;
  /** False: no model ranks again. */
  readonly isRanked?: boolean | undefined;
  readonly signal: AbortSignal;
}

export interface RetrieverOptions {
  readonly embedders: Embedders;
  readonly index: KnowledgeIndex;
  readonly documents: DocumentStore;
  readonly chunks: ChunkStore;
  readonly reranker: Reranker;
}

/** Beyond, terms are ignored and models cut. */
export const MAX_QUESTION = 4_000;
/** Of each base: some of one page come behind others, and some were deleted a moment ago. */
const LEAST_HITS = 10;

export class Retriever {
  readonly #options: RetrieverOptions;

  constructor(options: RetrieverOptions) {
    this.#options = options;
  }

  /** Best first; at most `k` of all bases together. Throws DataError and StorageError. */
  async search(scope: TenantScope, bases: readonly KnowledgeBase[], question: Question): Promise<PassageResult[]> {
    const found = await Promise.all(bases.map((base) => this.#searchBase(scope, base, question)));
    const options = { tenant: scope.tenant, signal: question.signal };
    const ordered = comparable(found).sort((a, b) => b.score - a.score || a.documentNo - b.documentNo || a.seq - b.seq);
    const isRanked = (question.mode ?? 'hybrid') === 'hybrid' && question.isRanked !== false;
    const ranked = isRanked
      ? await this.#options.reranker.rank(question.text.slice(0, MAX_QUESTION).toWellFormed(), ordered, options)
      : ordered;
    return diversified(ranked).slice(0, question.k);
  }

  async #searchBase(scope: TenantScope, base: KnowledgeBase, question: Question): Promise<PassageResult[]> {
    const { embedders, index, documents, chunks, reranker } = this.#options;
    const { mode = 'hybrid', filter, k, signal } = question;
    const text = question.text.slice(0, MAX_QUESTION).toWellFormed();
    // Before its first document a base has nothing that a vector could be compared with.
    if (base.version === 0) return [];
    const allowed = filter === undefined ? undefined : await documents.listMatching(scope, base, filter);
    const needsVector = mode !== 'lexical';
    const embedded = needsVector ? await embedders.embed(base, [text], { tenant: scope.tenant, signal }) : undefined;
    const { denseWeight, isByRanks } =
      question.denseWeight === undefined
        ? fusionOf(mode, text, embedded?.nTokens?.[0])
        : { denseWeight: question.denseWeight, isByRanks: false };
    const hits = await index.search(scope, base, {
      question: text,
      vector: embedded?.vectors[0],
      denseWeight,
      isByRanks,
      k: Math.max(LEAST_HITS, 2 * k, mode === 'hybrid' ? await reranker.depth() : 0),
      documents: allowed,
    });
    const rows = new Map((await chunks.read(scope, base, hits)).map((chunk) => [`${chunk.documentNo} ${chunk.seq}`, chunk]));
    return hits.flatMap((hit) => {
      const chunk = rows.get(`${hit.documentNo} ${hit.seq}`);
      if (chunk === undefined) return [];
      const denseScore = needsVector ? hit.dense : undefined;
      const relevance = relevanceOf(hit, denseWeight > 0 ? hit.dense : undefined);
      return [{ ...chunk, namespace: base.namespace, score: hit.score, lexicalScore: hit.lexical, denseScore, relevance }];
    });
  }
}

/** Unrelated texts have some cosine too; below this one says nothing. */
const LEAST_COSINE = 0.35;

function relevanceOf({ coverage }: IndexHit, cosine: number | undefined): number {
  const near = cosine === undefined ? 0 : Math.max(0, (cosine - LEAST_COSINE) / (1 - LEAST_COSINE));
  return Math.min(1, Math.max(coverage, near));
}

/** Scores are relative to the best of their base; between bases, that best counts as much as it is relevant. */
function comparable(found: readonly PassageResult[][]): PassageResult[] {
  const best = found.map((results) => Math.max(0, ...results.map(({ relevance }) => relevance)));
  const overall = Math.max(...best, Number.MIN_VALUE);
  return found.flatMap((results, i) =>
    results.map((result) => ({ ...result, score: result.score * ((best[i] ?? 0) / overall) })),
  );
}
