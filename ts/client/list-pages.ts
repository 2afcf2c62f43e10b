/** Lists that routes answer in pages, followed by `next`. */
export interface PageQuery {
  limit: number;
  after?: string;
}

export interface ListPage<Row> {
  data: readonly Row[];
  /** Absent or null on the last page. */
  next?: string | null;
}

export type LoadPage<Row> = (query: PageQuery) => Promise<ListPage<Row>>;

interface Rows<Row> {
  rows: readonly Row[];
  hasMore: boolean;
}

/** What the routes take at most. */
const MAX_LIMIT = 1000;

/** Reads up to `nPages` of `limit` rows. */
export async function firstPages<Row>(load: LoadPage<Row>, nPages: number, limit: number): Promise<Rows<Row>> {
  const rows: Row[] = [];
  let after: string | undefined;
  for (let n = 0; n < nPages; n++) {
    const { data, next } = await load({ limit, ...(after === undefined ? {} : { after }) });
    rows.push(...data);
    if (next == null) return { rows, hasMore: false };
    after = next;
  }
  return { rows, hasMore: true };
}

export async function allRows<Row>(load: LoadPage<Row>, limit = MAX_LIMIT): Promise<readonly Row[]> {
  return (await firstPages(load, Number.POSITIVE_INFINITY, limit)).rows;
}
