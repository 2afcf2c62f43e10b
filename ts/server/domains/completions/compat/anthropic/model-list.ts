/** The list of models as Anthropic's API writes it. Source: Anthropic API reference, "List Models". */
import Type, { type Static } from 'typebox';
import type { ModelCard } from '../../../inference/index.ts';

const Lifecycle = Type.Optional(
  Type.Array(Type.String(), {
    maxItems: 3,
    description: 'With anthropic-version: models of these stages. Every model that is installed is active.',
  }),
);

export const ModelListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'With anthropic-version; default 1000.' })),
  after_id: Type.Optional(Type.String({ maxLength: 512, description: 'With anthropic-version: the models behind this one.' })),
  before_id: Type.Optional(Type.String({ maxLength: 512, description: 'With anthropic-version: the models before this one.' })),
  lifecycle: Lifecycle,
  'lifecycle[]': Lifecycle,
});

const ACTIVE = 'active';

/** A page is cut out of the whole list; an id that is not there cuts nothing off. */
export function anthropicModelList(all: readonly ModelCard[], query: Static<typeof ModelListQuery>): Record<string, unknown> {
  const { limit = 1000, after_id: after, before_id: before, lifecycle = query['lifecycle[]'] } = query;
  const cards = lifecycle === undefined || lifecycle.includes(ACTIVE) ? all : [];
  const behind = cards.slice(cards.findIndex(({ id }) => id === after) + 1);
  const end = behind.findIndex(({ id }) => id === before);
  const range = end < 0 ? behind : behind.slice(0, end);
  const page = end < 0 ? range.slice(0, limit) : range.slice(-limit);
  const data = page.map(modelInfo);
  return { data, has_more: page.length < range.length, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
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
