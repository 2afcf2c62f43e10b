/** The list of models as Anthropic's API writes it, all of them in one page. Source: Anthropic API reference, "List Models". */
import type { ModelCard } from '../../../inference/index.ts';

export function anthropicModelList(cards: readonly ModelCard[]): Record<string, unknown> {
  const data = cards.map(({ id, createdAt }) => {
    return { type: 'model', id, display_name: id, created_at: new Date(createdAt * 1000).toISOString() };
  });
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}
