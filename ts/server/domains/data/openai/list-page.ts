/** Pages of lists as OpenAI's routes have them: by the id of the last item of the page before. */
import Type, { type TSchema } from 'typebox';

export const DEFAULT_LIMIT = 20;

/** Ids of any other form are of nothing. */
const Cursor = Type.Optional(Type.String({ minLength: 1, maxLength: 64 }));

export const pageMembers = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Default 20.' })),
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'By the time of making; default desc: the newest first.' })),
  after: Cursor,
  before: Cursor,
};

export function listShape(item: TSchema) {
  return Type.Object({
    object: Type.Literal('list'),
    data: Type.Array(item),
    first_id: Type.Union([Type.String(), Type.Null()]),
    last_id: Type.Union([Type.String(), Type.Null()]),
    has_more: Type.Boolean(),
  });
}

/** `items` are one more than the limit where there are more. */
export function listPage<T extends { readonly id: string }>(items: readonly T[], limit: number) {
  const data = items.slice(0, limit);
  return {
    object: 'list' as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: items.length > limit,
  };
}

export function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
