/** The list of models as Anthropic's API writes it. Source: Anthropic API reference, "List Models". */
import Type, { type Static } from 'typebox';
import { ignoredMember } from '../../../../platform/schema/member-effect.ts';
import type { ModelCard } from '../../../inference/index.ts';

export const ModelListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'With anthropic-version; default 1000.' })),
  after_id: Type.Optional(Type.String({ maxLength: 512, description: 'With anthropic-version: the models behind this one.' })),
  before_id: Type.Optional(Type.String({ maxLength: 512, description: 'With anthropic-version: the models before this one.' })),
  lifecycle: ignoredMember('Every model that is installed is active.'),
});

/** A page is cut out of the whole list; an id that is not there cuts nothing off. */
export function anthropicModelList(cards: readonly ModelCard[], query: Static<typeof ModelListQuery>): Record<string, unknown> {
  const { limit = 1000, after_id: after, before_id: before } = query;
  const behind = cards.slice(cards.findIndex(({ id }) => id === after) + 1);
  const end = behind.findIndex(({ id }) => id === before);
  const range = end < 0 ? behind : behind.slice(0, end);
  const page = end < 0 ? range.slice(0, limit) : range.slice(-limit);
  const data = page.map(modelInfo);
  return { data, has_more: page.length < range.length, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

function modelInfo({ id, createdAt, nCtxTrain }: ModelCard) {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(createdAt * 1000).toISOString(),
    lifecycle: 'active',
    max_input_tokens: nCtxTrain ?? null,
    max_tokens: nCtxTrain ?? null,
    capabilities: null,
    deprecated_at: null,
    line: null,
    retires_at: null,
  };
}
