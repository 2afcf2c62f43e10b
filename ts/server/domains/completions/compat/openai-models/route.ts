/** GET /v1/models: OpenAI's list, each entry with what the native API says of the model. */
import Type from 'typebox';
import type { Principal } from '../../../../platform/http/principal.ts';
import { json, type Route } from '../../../../platform/http/route.ts';
import { routes } from '../../../../platform/http/route-group.ts';
import { named } from '../../../../platform/schema/named.ts';
import { type InferenceService, inferenceErrors, ModelSummary, modelSummary, openaiErrorBody } from '../../../inference/index.ts';
import type { SpeechCard } from '../../../media/index.ts';
import { anthropicModelList, ModelListQuery, modelPage } from '../anthropic/model-list.ts';
import { anthropicHeaders } from '../foreign-members.ts';

const Entry = named(
  'OpenAiModel',
  Type.Object({
    object: Type.Literal('model'),
    ...ModelSummary.properties,
    default: Type.Optional(
      Type.Boolean({ description: 'true: answers where a request names no model, or one that is not there.' }),
    ),
  }),
);

const { get } = routes({ tag: 'Models', auth: 'open', errorBody: openaiErrorBody });

export type SpeechModelList = (caller: Principal) => Promise<SpeechCard[]>;

export function modelListRoute(service: InferenceService, speechModels: SpeechModelList): Route {
  return get('/v1/models', {
    summary: 'Models that the caller can ask',
    description:
      'With the header anthropic-version, the list is in the shape of Anthropic’s API (`data` with `type`, `display_name` and `created_at`, `first_id`, `last_id`, `has_more`). Answers without a login too. Where a tenant limits its models, those that the groups of the caller grant.',
    query: ModelListQuery,
    requestHeaders: anthropicHeaders,
    responses: { 200: Type.Object({ object: Type.Literal('list'), data: Type.Array(Entry) }) },
    errors: inferenceErrors.specs('invalid_request', 'internal'),
    handle: async ({ caller, headers, query }) => {
      const cards = await service.models(caller);
      if (headers.has('anthropic-version')) return json(200, anthropicModelList(cards, query));
      const entries = cards.map((card) => ({
        object: 'model' as const,
        ...modelSummary(card),
        ...(card.id === service.defaultModel ? { default: true } : {}),
      }));
      const all = [...entries, ...(await speechModels(caller)).map(speechEntry)];
      return json(200, { object: 'list', data: modelPage<{ id: string }>(all, query).cards });
    },
  });
}

function speechEntry({ id, sizeBytes, license, createdAt, state }: SpeechCard) {
  return {
    object: 'model' as const,
    id,
    kind: 'speech',
    architecture: 'whisper',
    family: 'whisper',
    capabilities: ['transcription'],
    size_bytes: sizeBytes,
    license,
    created: createdAt,
    owned_by: 'local',
    state,
  };
}
