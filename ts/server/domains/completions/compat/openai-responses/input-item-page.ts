/** One page of a response's input items, in the shape of OpenAI's lists. */
import { invalid } from '../../errors.ts';
import type { KeptItem } from '../../stored-responses/kept-response.ts';

const defaultLimit = 20;
/** A page ends before the item with which it would be longer, as JSON text; it has one if there is any. */
const maxPageLength = 8 * 1024 * 1024;

export interface PageQuery {
  limit?: number;
  order?: 'asc' | 'desc';
  after?: string;
}

/** `items` are oldest first. Throws when `after` is none of them. */
export function inputItemPage(items: readonly KeptItem[], { limit = defaultLimit, order = 'desc', after }: PageQuery) {
  const ordered = order === 'asc' ? items : items.toReversed();
  const start = after === undefined ? 0 : indexBehind(ordered, after);
  const data = fitting(ordered.slice(start, start + limit));
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + data.length < ordered.length,
  };
}

function fitting(items: readonly KeptItem[]): KeptItem[] {
  let length = 0;
  const overflow = items.findIndex((item) => {
    length += JSON.stringify(item).length;
    return length > maxPageLength;
  });
  return items.slice(0, overflow < 0 ? items.length : Math.max(1, overflow));
}

/** Clients may give several items one id; the last of them is taken, so that a client that pages on comes to an end. */
function indexBehind(items: readonly KeptItem[], id: string): number {
  const index = items.findLastIndex((item) => item.id === id);
  if (index < 0) throw invalid('after', 'after must be the id of an input item of this response.');
  return index + 1;
}
