/** The responses that one continues, up to the first of the conversation. */
import { type Kysely, sql } from 'kysely';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { KeptItem, ResponseStatus } from './kept-response.ts';
import type { ResponseTables } from './response-tables.ts';

/** Most responses of a chain, and most bytes of their items as JSON: both are read for each answer that continues them. */
export const maxChainLength = 1_000;
export const maxChainBytes = 32 * 1024 * 1024;

interface ChainLink {
  id: string;
  status: ResponseStatus;
  input: KeptItem[];
  output: KeptItem[];
}

export interface ResponseChain {
  /** Oldest first; the response asked for is the last. Empty when it is not there. */
  links: ChainLink[];
  /** The response that the oldest link continues and that is not kept any more. */
  missingId: string | undefined;
  /** The chain is longer than the limits; `links` has its newest part. */
  isTooLong: boolean;
}

/** The request of a response in a chain. */
export interface ChainRequest {
  head: Record<string, unknown>;
  input: KeptItem[];
}

/** Reads the whole chain with one query. */
export async function readChain(db: Kysely<ResponseTables>, { tenant }: TenantScope, id: string): Promise<ResponseChain> {
  const rows = await linksOf(db, tenant, id)
    .select(['responses.id', 'responses.previous_id', 'responses.status', 'responses.input', 'responses.output'])
    .execute();
  return { links: rows.map(toLink), ...(await readBeginning(db, tenant, id, rows[0]?.previous_id)) };
}

/** Reads the requests of a response and of those that it continues. Returns undefined when not all of them are known, or there are too many. */
export async function readChainRequests(
  db: Kysely<ResponseTables>,
  { tenant }: TenantScope,
  id: string,
): Promise<ChainRequest[] | undefined> {
  const rows = await linksOf(db, tenant, id).select(['responses.previous_id', 'responses.head', 'responses.input']).execute();
  if (rows[0]?.previous_id !== null) return undefined;
  return rows.map(({ head, input }) => ({
    head: JSON.parse(head) as Record<string, unknown>,
    input: JSON.parse(input) as KeptItem[],
  }));
}

/** The links of a chain within its limits, oldest first. */
function linksOf(db: Kysely<ResponseTables>, tenant: string, id: string) {
  return (
    db
      .withRecursive('chain(id, previous_id, depth, total_bytes)', (chained) =>
        chained
          .selectFrom('responses')
          .select(['id', 'previous_id', sql<number>`1`.as('depth'), 'n_bytes as total_bytes'])
          .where('tenant', '=', tenant)
          .where('id', '=', id)
          .unionAll(
            chained
              .selectFrom('responses')
              .innerJoin('chain', 'chain.previous_id', 'responses.id')
              .select([
                'responses.id',
                'responses.previous_id',
                sql<number>`chain.depth + 1`.as('depth'),
                sql<number>`chain.total_bytes + responses.n_bytes`.as('total_bytes'),
              ])
              .where('responses.tenant', '=', tenant)
              .where('chain.depth', '<=', maxChainLength)
              .where('chain.total_bytes', '<=', maxChainBytes),
          ),
      )
      .selectFrom('chain')
      .innerJoin('responses', 'responses.id', 'chain.id')
      .where('responses.tenant', '=', tenant)
      // What lies beyond the limits is found and not read.
      .where('chain.depth', '<=', maxChainLength)
      .where('chain.total_bytes', '<=', maxChainBytes)
      .orderBy('chain.depth', 'desc')
  );
}

type Row = Pick<ResponseTables['responses'], 'id' | 'status' | 'input' | 'output'>;

function toLink({ id, status, input, output }: Row): ChainLink {
  return { id, status, input: JSON.parse(input) as KeptItem[], output: JSON.parse(output) as KeptItem[] };
}

/** Whether the response before the oldest link is gone, or beyond the limits. `previousId` is undefined when there is no link. */
async function readBeginning(
  db: Kysely<ResponseTables>,
  tenant: string,
  id: string,
  previousId: string | null | undefined,
): Promise<Pick<ResponseChain, 'missingId' | 'isTooLong'>> {
  if (previousId === null) return { missingId: undefined, isTooLong: false };
  const sought = previousId ?? id;
  const found = await db
    .selectFrom('responses')
    .select('id')
    .where('tenant', '=', tenant)
    .where('id', '=', sought)
    .executeTakeFirst();
  return found === undefined ? { missingId: sought, isTooLong: false } : { missingId: undefined, isTooLong: true };
}
