/** Search in knowledge bases. */
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { featureErrors } from '../../license/index.ts';
import { knowledgeErrors } from '../errors.ts';
import { readQuestion } from '../evidence/asked-question.ts';
import { readPassages } from '../evidence/read-passages.ts';
import { relevanceOf } from '../evidence/relevance.ts';
import type { KnowledgeAccess } from '../knowledge-access.ts';
import type { DocumentFilter } from '../knowledge-base.ts';
import { SearchRequest, SearchResults, toResultShape } from '../schemas.ts';
import type { KnowledgeService } from '../service.ts';
import { readTime } from './document-routes.ts';

const DEFAULT_TOP_K = 10;

const { post } = routes({ tag: 'Knowledge bases', auth: 'viewer', scope: 'knowledge:read', errors: knowledgeErrors });

export function searchRoute(service: KnowledgeService, access: KnowledgeAccess): Route {
  return post('/api/v1/vector/search', {
    maxBody: 256 * 1024,
    summary: 'Find passages by words and by meaning',
    description:
      'Any language. `score` orders the results of one search; `relevance` says how sure it is that a passage is about the question at all. With a ' +
      'rerank model installed, the best 30 are ranked by it again.',
    body: SearchRequest,
    bodyTexts: 'free',
    answer: SearchResults,
    errors: [
      'invalid_request',
      'forbidden',
      'namespace_not_found',
      'embedding_failed',
      'embedding_dimension_mismatch',
      'index_unavailable',
      'storage_unavailable',
      ...featureErrors,
    ],
    handle: async ({ caller, body, signal }) => {
      const startedAt = performance.now();
      const { tenant, namespace, query, top_k: k = DEFAULT_TOP_K, mode } = body;
      const namespaces = typeof namespace === 'string' ? [namespace] : namespace;
      const question = { text: query, k, filter: filterOf(body), signal, ...(mode === undefined ? {} : { mode }) };
      access.requireSearching();
      const results = await service.search(await access.scopeFor(caller, tenant, ...namespaces), namespaces, question);
      const tookMs = Math.round((performance.now() - startedAt) * 100) / 100;
      const asked = readQuestion(query);
      const answerable = relevanceOf(asked, await readPassages(asked, results)) === 'found';
      return { results: results.map(toResultShape), answerable, took_ms: tookMs };
    },
  });
}

function filterOf({ sources, tags, from, to }: SearchRequest): DocumentFilter | undefined {
  if ([sources, tags, from, to].every((each) => each === undefined)) return undefined;
  return { sources, tags, from: readTime('from', from), to: readTime('to', to) };
}
