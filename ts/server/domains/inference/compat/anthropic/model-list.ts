/** The list of models as Anthropic's API writes it. Source: Anthropic API reference, "List Models". */
import Type from 'typebox';
import type { ModelCard } from '../../backend.ts';

export const AnthropicModelList = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        type: Type.Literal('model'),
        id: Type.String(),
        display_name: Type.String(),
        created_at: Type.String({ description: 'RFC 3339.' }),
      }),
    ),
    has_more: Type.Boolean(),
    first_id: Type.Union([Type.String(), Type.Null()]),
    last_id: Type.Union([Type.String(), Type.Null()]),
  },
  { description: 'With the header anthropic-version.' },
);

/** All of them in one page. */
export function anthropicModelList(cards: readonly ModelCard[]): Record<string, unknown> {
  const data = cards.map(({ id, createdAt }) => {
    return { type: 'model', id, display_name: id, created_at: new Date(createdAt * 1000).toISOString() };
  });
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}
