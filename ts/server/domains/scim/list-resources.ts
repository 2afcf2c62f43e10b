/** Lists of resources (RFC 7644 section 3.4.2): pages are counted from 1, and a filter may need a look at each resource. */
import type { DirectoryRows } from '../identity/index.ts';
import { indexedValue } from './filter/indexed-value.ts';
import { matchesFilter } from './filter/match-filter.ts';
import { parseFilter } from './filter/parse-filter.ts';
import { MESSAGES, type ResourceKind } from './resource/attribute.ts';
import { isWanted, type Projection, project } from './resource/projection.ts';
import type { Resource } from './resource/resource.ts';
import { invalidScim } from './scim-error.ts';

export interface ListQuery extends Projection {
  filter: string | undefined;
  startIndex: number | undefined;
  count: number | undefined;
}

interface ResourceSource<Row> extends DirectoryRows<Row> {
  /** `isWanted` says of an attribute that costs reading whether it is needed. */
  resources(rows: readonly Row[], isWanted: (name: string) => boolean): Promise<Resource[]>;
}

export const MAX_COUNT = 1_000;
const DEFAULT_COUNT = 100;
const SCANNED_AT_ONCE = 500;
/** A filter that no index serves looks at so many resources. */
const MAX_SCANNED = 100_000;

export async function listResources<Row>(kind: ResourceKind, source: ResourceSource<Row>, query: ListQuery): Promise<Resource> {
  const start = Math.max(1, query.startIndex ?? 1);
  const count = Math.min(MAX_COUNT, Math.max(0, query.count ?? DEFAULT_COUNT));
  const wanted = (name: string): boolean => isWanted(query, name);
  const { total, found } =
    query.filter === undefined
      ? { total: await source.count(), found: await source.resources(await source.page(start - 1, count), wanted) }
      : await filtered(kind, source, query.filter, { start, count }, wanted);
  return {
    schemas: [`${MESSAGES}ListResponse`],
    totalResults: total,
    startIndex: start,
    itemsPerPage: found.length,
    Resources: found.map((resource) => project(kind, resource, query)),
  };
}

async function filtered<Row>(
  kind: ResourceKind,
  source: ResourceSource<Row>,
  text: string,
  { start, count }: { start: number; count: number },
  wanted: (name: string) => boolean,
): Promise<{ total: number; found: Resource[] }> {
  const filter = parseFilter(text);
  const needed = (name: string): boolean => wanted(name) || text.toLowerCase().includes(name.toLowerCase());
  const index = indexedValue(kind, filter);
  const found: Resource[] = [];
  let total = 0;
  const take = async (rows: readonly Row[]): Promise<void> => {
    for (const resource of await source.resources(rows, needed)) {
      if (!matchesFilter(kind, resource, filter)) continue;
      total += 1;
      if (total >= start && found.length < count) found.push(resource);
    }
  };
  // An attribute that is not there is refused, also where there are no resources.
  matchesFilter(kind, {}, filter);
  if (index !== undefined) await take(await source.indexed(index));
  else await scan(source, take);
  return { total, found };
}

async function scan<Row>(source: ResourceSource<Row>, take: (rows: readonly Row[]) => Promise<void>): Promise<void> {
  let last: Row | undefined;
  for (let nScanned = 0; ; nScanned += SCANNED_AT_ONCE) {
    if (nScanned >= MAX_SCANNED) {
      throw invalidScim('tooMany', 'The filter would look at too many resources; filter by userName, displayName or externalId.');
    }
    const rows = await source.after(last, SCANNED_AT_ONCE);
    await take(rows);
    last = rows.at(-1);
    if (rows.length < SCANNED_AT_ONCE) return;
  }
}
