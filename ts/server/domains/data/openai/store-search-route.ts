/** Search in a vector store. */
import Type from 'typebox';
import { scopeOf } from '../../../platform/http/principal.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { refusedMember } from '../../../platform/schema/member-effect.ts';
import { openaiErrorBody } from '../../inference/index.ts';
import { featureErrors } from '../../license/index.ts';
import { knowledgeErrors } from '../errors.ts';
import type { KnowledgeAccess } from '../knowledge-access.ts';
import type { PassageResult } from '../knowledge-base.ts';
import { MAX_QUERY } from '../limits.ts';
import type { KnowledgeService } from '../service.ts';
import { readAttributeFilter } from '../vector-stores/attribute-filter.ts';
import { readRanking } from '../vector-stores/ranking-options.ts';
import { sureResults } from '../vector-stores/sure-results.ts';
import type { VectorStores } from '../vector-stores/vector-stores.ts';
import { storeReadErrors } from './store-errors.ts';
import { StoreParams, storePath } from './store-routes.ts';
import { AttributesShape } from './store-shape.ts';

const DEFAULT_RESULTS = 10;
const Query = Type.String({ minLength: 1, maxLength: MAX_QUERY, pattern: '\\S' });

export interface StoreSearchDeps {
  readonly stores: VectorStores;
  readonly knowledge: Pick<KnowledgeService, 'search'>;
  readonly access: KnowledgeAccess;
}

const { post } = routes({
  tag: 'Vector stores',
  auth: 'viewer',
  scope: 'knowledge:read',
  errors: knowledgeErrors,
  errorBody: openaiErrorBody,
});

export function storeSearchRoute({ stores, knowledge, access }: StoreSearchDeps): Route {
  return post(`${storePath}/{vector_store_id}/search`, {
    maxBody: 256 * 1024,
    summary: 'Search in a vector store, by words and by meaning',
    description: 'Several queries are searched one by one, and their results put together.',
    params: StoreParams,
    bodyTexts: 'free',
    body: Type.Object({
      query: Type.Union([Query, Type.Array(Query, { minItems: 1, maxItems: 16 })]),
      max_num_results: Type.Optional(Type.Integer({ minimum: 1, maximum: 50 })),
      filters: Type.Optional(Type.Unknown({ description: 'A comparison of an attribute, or and/or of several.' })),
      ranking_options: Type.Optional(Type.Unknown({ description: 'ranker, score_threshold (0 to 1), hybrid_search.' })),
      rewrite_query: refusedMember('Nothing is rewritten: send the query as it is to be sought.', { enum: [null, false] }),
    }),
    answer: Type.Object({
      object: Type.Literal('vector_store.search_results.page'),
      search_query: Type.Array(Type.String()),
      data: Type.Array(
        Type.Object({
          file_id: Type.String(),
          filename: Type.String(),
          score: Type.Number({ description: 'How sure it is that the passage is about the query, 0 to 1.' }),
          attributes: AttributesShape,
          content: Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() })),
        }),
      ),
      has_more: Type.Boolean(),
      next_page: Type.Union([Type.String(), Type.Null()]),
    }),
    errors: [
      ...storeReadErrors,
      'namespace_not_found',
      'embedding_failed',
      'embedding_dimension_mismatch',
      'index_unavailable',
      ...featureErrors,
    ],
    handle: async ({ caller, params, body, signal }) => {
      const { query, max_num_results: k = DEFAULT_RESULTS, filters, ranking_options: options } = body;
      const { leastScore, ...ranking } = readRanking(options);
      const filter = filters === undefined || filters === null ? undefined : { attributes: readAttributeFilter(filters) };
      const { namespace } = await stores.get(caller, params.vector_store_id);
      access.requireSearching();
      const queries = typeof query === 'string' ? [query] : query;
      const lists: PassageResult[][] = [];
      for (const text of queries)
        lists.push(await knowledge.search(scopeOf(caller), [namespace], { text, k, filter, signal, ...ranking }));
      const results = sureResults(together(lists), leastScore).slice(0, k);
      return {
        object: 'vector_store.search_results.page' as const,
        search_query: queries,
        data: results.map(toShape),
        has_more: false,
        next_page: null,
      };
    },
  });
}

/** Of one passage that several queries find, the best place counts. */
function together(lists: readonly PassageResult[][]): PassageResult[] {
  const [only, ...others] = lists;
  if (only !== undefined && others.length === 0) return only;
  const best = new Map<string, PassageResult>();
  for (const result of lists.flat()) {
    const key = `${result.documentNo} ${result.seq}`;
    const known = best.get(key);
    if (known === undefined || known.score < result.score) best.set(key, result);
  }
  return [...best.values()].sort((a, b) => b.score - a.score);
}

function toShape({ fileId, source, score, attributes, text }: PassageResult) {
  return {
    file_id: fileId,
    filename: source,
    score: Math.round(score * 1e6) / 1e6,
    attributes,
    content: [{ type: 'text' as const, text }],
  };
}
