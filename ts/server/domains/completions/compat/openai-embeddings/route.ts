/** POST /v1/embeddings and the two paths that answer the same. */
import type { Reply, RequestContext, Route } from '../../../../platform/http/route.ts';
import { routes } from '../../../../platform/http/route-group.ts';
import {
  type ExactNeeds,
  type InferenceService,
  inferenceErrors,
  modelErrors,
  openaiErrorBody,
} from '../../../inference/index.ts';
import { invalid } from '../../errors.ts';
import { callOptions } from '../../service.ts';
import { openaiHeaders } from '../foreign-members.ts';
import { maxBodyBytes, readBody } from '../read-body.ts';
import { embeddingChunks, shortenVector } from './answer.ts';
import { type EmbeddingCall, embeddingReader } from './input.ts';
import { EmbeddingList } from './schema.ts';

/** Larger answers go out as they are made; smaller ones are sent whole, with their length. */
const mostGatheredFloats = 16_384;

const MOST_PLACES = 64;

const paths: Record<string, Pick<ExactNeeds, 'place'>> = {
  '/v1/embeddings': {},
  '/v1/cloud/embeddings': { place: 'elsewhere' },
  '/v1/inference/embeddings': { place: 'here' },
};

const { post } = routes({ tag: 'Embeddings', auth: 'viewer', scope: 'embeddings:use', errorBody: openaiErrorBody });

export function embeddingRoutes(service: InferenceService): Route[] {
  return Object.entries(paths).map(([path, place]) =>
    post(path, {
      maxBody: maxBodyBytes,
      summary: 'Embed texts',
      description:
        'Vectors of this node have length 1, those of providers are as they come. Models are never substituted here: vectors of different models ' +
        'cannot be compared. /v1/cloud/embeddings asks providers alone, /v1/inference/embeddings this node alone.',
      ...readBody(embeddingReader),
      requestHeaders: openaiHeaders,
      responses: { 200: EmbeddingList },
      errors: modelErrors,
      handle: (context) => embed(service, context, place),
    }),
  );
}

async function embed(
  service: InferenceService,
  context: RequestContext<unknown, unknown, EmbeddingCall>,
  place: Pick<ExactNeeds, 'place'>,
): Promise<Reply> {
  const { model: name, inputs, isBase64, nDimensions, truncate } = context.body;
  const model = await service.resolve({ ability: 'embeddings', model: name, ...place }, context.caller);
  if (truncate !== undefined && model.card.state === 'remote') throw unknownToProvider(model.card.id);
  const options = { ...callOptions(context), truncate: truncate ?? true };
  const { vectors, nTokens, truncated = [] } = await service.embed(model, inputs, options);
  const shortened = nDimensions ? shortenAll(vectors, nDimensions) : vectors;
  const body = embeddingChunks({
    model: model.card.id,
    vectors: shortened,
    isBase64,
    nTokens: nTokens.reduce((sum, count) => sum + count, 0),
  });
  const cut = truncated.length > 0 && { 'x-svc-truncated': placesText(truncated) };
  const head = { status: 200, headers: { 'content-type': 'application/json', ...cut } };
  const nFloats = shortened.length * (shortened[0]?.length ?? 0);
  if (nFloats > mostGatheredFloats) return { kind: 'stream', ...head, body };
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return { kind: 'bytes', ...head, body: Buffer.concat(chunks) };
}

function unknownToProvider(model: string): Error {
  const sentence = `truncate is for models of this node, and ${model} is a provider's, which decides for itself: leave it out.`;
  return inferenceErrors.error('unsupported_by_backend', sentence, { param: 'truncate' });
}

/** Writes them for a header, which has few bytes. */
function placesText(places: readonly number[]): string {
  const named = places.slice(0, MOST_PLACES).join(',');
  return places.length > MOST_PLACES ? `${named},...` : named;
}

function shortenAll(vectors: Float32Array[], nDimensions: number): Float32Array[] {
  const available = vectors[0]?.length ?? 0;
  if (nDimensions > available)
    throw invalid('dimensions', `dimensions is ${nDimensions}, but the model's vectors have ${available}.`);
  return vectors.map((vector) => shortenVector(vector, nDimensions));
}
