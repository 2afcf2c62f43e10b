/** Lists of rows that come in pages. */
import Type, { type TSchema } from 'typebox';
import { named } from '../schema/named.ts';

/** Rows of a page whose request did not say. */
export const DEFAULT_PAGE_ROWS = 100;

export const PageQuery = Type.Object({
  after: Type.Optional(Type.String({ maxLength: 128, description: '`next` of the page before.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
});

/** A list of rows with a name has a name too. */
export function listOf<S extends TSchema & { title?: string }>(row: S) {
  const next = Type.Optional(Type.String({ description: 'Absent on the last page.' }));
  const list = Type.Object({ data: Type.Array(row), next });
  return row.title === undefined ? list : named(`${row.title}List`, list);
}

/** Makes the query of a page for the store: it reads one row more than the page has, which tells whether another page follows. */
export function pageRead({ after = '', limit = DEFAULT_PAGE_ROWS }: { after?: string; limit?: number }) {
  return { after, limit: limit + 1 };
}

/** A page of the rows that `pageRead` asked for. */
export function page<Row extends { id: string }, Body>(
  rows: readonly Row[],
  limit: number | undefined,
  body: (row: Row) => Body,
): { data: Body[]; next?: string } {
  const shown = rows.slice(0, limit ?? DEFAULT_PAGE_ROWS);
  const next = rows.length > shown.length ? shown.at(-1)?.id : undefined;
  return { data: shown.map(body), ...(next !== undefined && { next }) };
}
