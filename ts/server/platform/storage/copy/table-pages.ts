/** A table's rows in the order of its primary key, page by page. */
import { sql } from 'kysely';
import { bindKysely } from '../bound-kysely.ts';
import type { ReadableDatabase } from '../engine.ts';
import type { StatementValue } from '../statement.ts';
import { systemScope } from '../tenant-scope.ts';
import type { CatalogTable } from './catalog.ts';

export type Row = Readonly<Record<string, StatementValue>>;

const MAX_PAGE_ROWS = 1_000;
const PAGE_BYTES = 1024 * 1024;
/** A page's rows are inserted by one statement, and SQLite takes 32,766 parameters. */
const MAX_PARAMETERS = 30_000;

/** Reads from behind `after`, the primary key of a row, or from the beginning. A page is never empty. */
export async function* readPages(
  engine: ReadableDatabase,
  table: CatalogTable,
  after?: readonly StatementValue[],
): AsyncGenerator<Row[]> {
  let last = after;
  let limit = 16;
  for (;;) {
    const page = await readPage(engine, table, last, limit);
    const final = page.at(-1);
    if (!final) return;
    yield page;
    last = keyOf(table, final);
    limit = nextLimit(table, page, limit);
  }
}

export function keyOf({ primaryKey }: CatalogTable, row: Row): StatementValue[] {
  return primaryKey.map((name) => row[name] ?? null);
}

async function readPage(
  engine: ReadableDatabase,
  table: CatalogTable,
  after: readonly StatementValue[] | undefined,
  limit: number,
): Promise<Row[]> {
  const key = sql.join(table.primaryKey.map((name) => sql.ref(name)));
  const behind = after ? sql`where (${key}) > (${sql.join([...after])})` : sql``;
  const columns = sql.join(table.columns.map((name) => sql.ref(name)));
  const query = sql<Row>`select ${columns} from ${sql.table(table.name)} ${behind} order by ${key} limit ${limit}`;
  return await engine.read(systemScope(), async (execute) => (await query.execute(bindKysely(engine.dialect, execute))).rows);
}

/** Small rows come in large pages, and large rows in small ones. */
function nextLimit({ columns }: CatalogTable, page: readonly Row[], limit: number): number {
  const bytes = page.reduce((sum, row) => sum + rowBytes(row), 1);
  const fitting = Math.floor((page.length * PAGE_BYTES) / bytes);
  const largest = Math.min(MAX_PAGE_ROWS, Math.floor(MAX_PARAMETERS / columns.length));
  return Math.max(1, Math.min(fitting, 4 * limit, largest));
}

function rowBytes(row: Row): number {
  return Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === 'number' || value === null ? 8 : sizeOf(value)),
    0,
  );
}

function sizeOf(value: string | bigint | Uint8Array): number {
  return typeof value === 'bigint' ? 8 : value.length;
}
