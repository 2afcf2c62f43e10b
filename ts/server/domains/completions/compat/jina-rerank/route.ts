/** POST /v1/rerank, in the shape of Jina's and Cohere's APIs. */
import { json, type Reply, type RequestContext, type Route } from '../../../../platform/http/route.ts';
import { routes } from '../../../../platform/http/route-group.ts';
import { type InferenceService, modelErrors, openaiErrorBody } from '../../../inference/index.ts';
import { callOptions } from '../../service.ts';
import { maxBodyBytes, readBody } from '../read-body.ts';
import { type RerankCall, rerankReader } from './request.ts';
import { RerankResult } from './schema.ts';

const { post } = routes({ tag: 'Embeddings', auth: 'viewer', scope: 'embeddings:use', errorBody: openaiErrorBody });

export function rerankRoute(service: InferenceService): Route {
  return post('/v1/rerank', {
    maxBody: maxBodyBytes,
    summary: 'Rank documents by their relevance to a query',
    ...readBody(rerankReader),
    responses: { 200: RerankResult },
    errors: modelErrors,
    handle: (context) => rerank(service, context),
  });
}

async function rerank(service: InferenceService, context: RequestContext<unknown, unknown, RerankCall>): Promise<Reply> {
  const { model: name, query, documents, topN, returned } = context.body;
  const options = callOptions(context);
  const model = await service.resolve({ ability: 'rerank', model: name }, context.caller);
  const { scores, nTokens } = await service.rank(model, query, documents, options);
  const ranked = documents
    .map((_, index) => ({
      index,
      relevance_score: scores[index] ?? 0,
      ...(returned ? { document: { text: returned[index] } } : {}),
    }))
    .sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
    .slice(0, topN ?? documents.length);
  const nTotal = nTokens.reduce((sum, count) => sum + count, 0);
  return json(200, {
    object: 'list',
    model: model.card.id,
    results: ranked,
    usage: { prompt_tokens: nTotal, total_tokens: nTotal },
  });
}
