/** POST /v1/rerank, in the shape of Jina's and Cohere's APIs. */
import Type, { type Static } from 'typebox';
import { json, type Reply, type RequestContext, type Route, route } from '../../../../platform/http/route.ts';
import { invalid, modelErrors } from '../../errors.ts';
import type { InferenceService } from '../../service.ts';
import { callOptions } from '../call.ts';
import { maxBodyBytes } from '../limits.ts';
import { asMembers, asText } from '../members.ts';
import { nullableBoolean, nullableInteger } from '../nullable.ts';
import { openaiErrorBody } from '../openai/error-body.ts';

const RerankRequest = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 512 }),
  query: Type.String({ minLength: 1 }),
  documents: Type.Array(Type.Unknown(), { minItems: 1, maxItems: 10_000, description: 'Texts, or objects with `text`.' }),
  top_n: nullableInteger(1, 10_000, 'Keeps the best of so many; all unless told.'),
  return_documents: nullableBoolean('Repeats the documents in the results; false unless told.'),
});

type RerankRequest = Static<typeof RerankRequest>;

const RerankResult = Type.Object({
  object: Type.Literal('list'),
  model: Type.String(),
  results: Type.Array(
    Type.Object({
      index: Type.Integer({ description: 'Place of the document in the request.' }),
      relevance_score: Type.Number({ description: 'Higher is more relevant.' }),
      document: Type.Optional(Type.Object({ text: Type.String() })),
    }),
  ),
  usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }),
});

export function rerankRoute(service: InferenceService): Route {
  return route({
    method: 'POST',
    path: '/v1/rerank',
    auth: 'viewer',
    scope: 'embeddings:use',
    maxBody: maxBodyBytes,
    tag: 'Embeddings',
    summary: 'Rank documents by their relevance to a query',
    body: RerankRequest,
    responses: { 200: RerankResult },
    errors: modelErrors,
    errorBody: openaiErrorBody,
    handle: (context) => rerank(service, context),
  });
}

async function rerank(service: InferenceService, context: RequestContext<unknown, unknown, RerankRequest>): Promise<Reply> {
  const { model: name, query, top_n, return_documents } = context.body;
  const documents = context.body.documents.map(readDocument);
  const options = callOptions(context);
  const model = await service.resolve({ ability: 'rerank', model: name });
  const { scores, nTokens } = await service.rank(model, query, documents, options);
  const ranked = documents
    .map((text, index) => ({ index, relevance_score: scores[index] ?? 0, ...(return_documents ? { document: { text } } : {}) }))
    .sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
    .slice(0, top_n ?? documents.length);
  const nTotal = nTokens.reduce((sum, count) => sum + count, 0);
  return json(200, {
    object: 'list',
    model: model.card.id,
    results: ranked,
    usage: { prompt_tokens: nTotal, total_tokens: nTotal },
  });
}

function readDocument(document: unknown, index: number): string {
  const param = `documents[${index}]`;
  const text = typeof document === 'string' ? document : asText(asMembers(document, param)['text'], `${param}.text`);
  if (text === '') throw invalid(param, `${param} is empty.`);
  return text;
}
