/** Pages of rows that end at a number of bytes, too, since one row may be as large as a thousand others. */
import { type SelectQueryBuilder, sql } from 'kysely';

const MAX_PAGE_BYTES = 8 * 1024 * 1024;

export interface Page<Row> {
  readonly rows: Row[];
  /** Whether there are rows behind them. */
  readonly hasMore: boolean;
}

/**
 * The first rows of an ordered query, at most `limit`, and one if there is any: the page ends before the row with which these columns of
 * text would exceed 8 MiB. Neither database reads a text to tell its size.
 */
export async function readPage<DB, Tables extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, Tables, Row>,
  limit: number,
  columns: readonly string[],
): Promise<Page<Row>> {
  const terms = columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`);
  const bytes = sql<number>`${sql.join(terms, sql.raw(' + '))}`.as('bytes');
  const sizes = (await query
    .clearSelect()
    .select([bytes])
    .limit(limit + 1)
    .execute()) as unknown as { bytes: number }[];
  const n = countFitting(sizes.slice(0, limit));
  return { rows: n === 0 ? [] : await query.limit(n).execute(), hasMore: n < sizes.length };
}

function countFitting(sizes: readonly { bytes: number }[]): number {
  let total = 0;
  const overflow = sizes.findIndex(({ bytes }) => {
    total += Number(bytes);
    return total > MAX_PAGE_BYTES;
  });
  return overflow < 0 ? sizes.length : Math.max(1, overflow);
}
