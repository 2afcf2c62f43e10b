/** The list of models as Anthropic's API pages and writes it. Source: Anthropic API reference, "List Models". */
import Type, { type Static } from 'typebox';
import type { ModelCard } from '../../../inference/index.ts';
import { invalid } from '../../errors.ts';

/** Python's client writes several in one text: active,deprecated. */
const STAGES = '^(active|deprecated|retired)(,(active|deprecated|retired)){0,2}$';
const Lifecycle = Type.Optional(
  Type.Array(Type.String({ pattern: STAGES }), {
    maxItems: 3,
    description: 'Models of these stages: active, deprecated, retired. Every model that is installed is active.',
  }),
);

export const ModelListQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: 'Default: 1000 with anthropic-version, all without.' }),
  ),
  after_id: Type.Optional(Type.String({ maxLength: 512, description: 'The models behind this one.' })),
  before_id: Type.Optional(Type.String({ maxLength: 512, description: 'The models before this one; the last ones of them.' })),
  lifecycle: Lifecycle,
  'lifecycle[]': Lifecycle,
});

interface ModelPage<T> {
  cards: readonly T[];
  hasMore: boolean;
}

const ACTIVE = 'active';

/** Throws invalid_request for a model that is not in the list. */
export function modelPage<T extends { id: string }>(all: readonly T[], query: Static<typeof ModelListQuery>): ModelPage<T> {
  const { limit = all.length, after_id: after, before_id: before } = query;
  const start = after === undefined ? 0 : indexOfModel(all, 'after_id', after) + 1;
  const end = before === undefined ? all.length : indexOfModel(all, 'before_id', before);
  const range = isActiveWanted(query) ? all.slice(start, end) : [];
  const cards = before === undefined ? range.slice(0, limit) : range.slice(Math.max(0, range.length - limit));
  return { cards, hasMore: cards.length < range.length };
}

function isActiveWanted(query: Static<typeof ModelListQuery>): boolean {
  const stages = [...(query.lifecycle ?? []), ...(query['lifecycle[]'] ?? [])];
  return stages.length === 0 || stages.some((each) => each.split(',').includes(ACTIVE));
}

function indexOfModel(all: readonly { id: string }[], param: string, id: string): number {
  const index = all.findIndex((card) => card.id === id);
  if (index < 0) throw invalid(param, `${param} must be the id of a model of the list.`);
  return index;
}

export function anthropicModelList(all: readonly ModelCard[], query: Static<typeof ModelListQuery>): Record<string, unknown> {
  const { cards, hasMore } = modelPage(all, { limit: 1000, ...query });
  const data = cards.map(modelInfo);
  return { data, has_more: hasMore, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

function modelInfo({ id, createdAt, nCtxTrain, nCtxRequest = nCtxTrain }: ModelCard) {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(createdAt * 1000).toISOString(),
    lifecycle: ACTIVE,
    max_input_tokens: nCtxRequest ?? null,
    max_tokens: nCtxRequest ?? null,
    capabilities: null,
    deprecated_at: null,
    line: null,
    retires_at: null,
  };
}
