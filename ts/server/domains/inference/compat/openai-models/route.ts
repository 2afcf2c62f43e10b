/** GET /v1/models: OpenAI's list, each entry with what the model can do. */
import Type from 'typebox';
import { json, type Route, route } from '../../../../platform/http/route.ts';
import type { ModelCard } from '../../backend.ts';
import { errorSpecs } from '../../errors.ts';
import type { InferenceService } from '../../service.ts';
import { openaiErrorBody } from '../openai/error-body.ts';

const Entry = Type.Object({
  id: Type.String(),
  object: Type.Literal('model'),
  created: Type.Integer({ description: 'Unix seconds.' }),
  owned_by: Type.String(),
  capabilities: Type.Array(Type.String(), { description: 'Of chat, tools, vision, thinking, embeddings, rerank.' }),
  context_length: Type.Integer({ description: 'Tokens that the model was trained for.' }),
  architecture: Type.String(),
  family: Type.String(),
  size_bytes: Type.Integer(),
  quantisation: Type.Union([Type.String(), Type.Null()]),
  state: Type.String({ description: 'unloaded, loading, loaded, unloading or unusable.' }),
  note: Type.Optional(Type.String({ description: 'What a user must know: that it is a demonstration, or why it is unusable.' })),
});

export function modelListRoute(service: InferenceService): Route {
  return route({
    method: 'GET',
    path: '/v1/models',
    auth: 'open',
    maxBody: 0,
    tag: 'Models',
    summary: 'Models that can be asked',
    responses: { 200: Type.Object({ object: Type.Literal('list'), data: Type.Array(Entry) }) },
    errors: errorSpecs('internal'),
    errorBody: openaiErrorBody,
    handle: async () => json(200, { object: 'list', data: (await service.models()).map(modelEntry) }),
  });
}

function modelEntry(card: ModelCard): Record<string, unknown> {
  const note = card.unusable ?? card.demonstration;
  return {
    id: card.id,
    object: 'model',
    created: card.createdAt,
    owned_by: card.ownedBy,
    capabilities: listCapabilities(card),
    context_length: card.nCtxTrain,
    architecture: card.architecture,
    family: card.family,
    size_bytes: card.sizeBytes,
    quantisation: card.quantisation ?? null,
    state: card.state,
    ...(note === undefined ? {} : { note }),
  };
}

export function listCapabilities({ capabilities }: ModelCard): string[] {
  return Object.entries(capabilities).flatMap(([name, has]) => (has ? [name] : []));
}
