/** Background responses in the database: their runs, events and ends. A write that resolved is on disk. */
import { type Kysely, sql } from 'kysely';
import type { Storage, StorageAccess, TenantScope } from '../../../platform/storage/index.ts';
import type { EventBatch } from '../event-streams/event-batch.ts';
import type { KeptItem, KeptResponse, NewResponse, ResponseEnd, ResponseFailure } from './kept-response.ts';
import { endMembers, newRow, type ResponseTables, shownColumns, toKeptResponse } from './response-tables.ts';
import { firstSequenceOf, LAST_OF_CREATION } from './run-numbers.ts';

/** Batches that are read at a time: a follower must not hold a whole long answer in memory. */
const maxBatchesAtATime = 16;

/** One run of a response's job. */
export interface ResponseRun {
  scope: TenantScope;
  id: string;
  /** Counted from 1. Only the latest run may write. */
  run: number;
  head: Record<string, unknown>;
  input: KeptItem[];
  previousId: string | undefined;
  /** The request that insert() was given. */
  request: unknown;
}

interface EventPage {
  /** Undefined: it is not there any more. */
  response: KeptResponse | undefined;
  batches: EventBatch[];
}

type Db = Kysely<ResponseTables>;

export class BackgroundStore {
  readonly #access: StorageAccess<ResponseTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<ResponseTables>();
  }

  /** Keeps a queued response with its first events. `request` is what its job will need beside the input. */
  async insert(scope: TenantScope, response: NewResponse, request: unknown, frames: string): Promise<void> {
    const row = { ...newRow(scope, response), is_background: 1, request: JSON.stringify(request) };
    const events = { tenant: scope.tenant, response_id: response.id, first_sequence: 0, last_sequence: LAST_OF_CREATION, frames };
    await this.#access.writeUnit(scope, (db) => [
      db.insertInto('responses').values(row),
      db.insertInto('response_events').values(events),
    ]);
  }

  async setJob(scope: TenantScope, id: string, jobId: string): Promise<void> {
    await this.#access.writeUnit(scope, (db) => [updateOf(db, scope, id).set({ job_id: jobId })]);
  }

  /** Begins a run and erases the events of the run before. Undefined: the response has ended, or is not there any more. */
  async begin(scope: TenantScope, id: string, jobId: string): Promise<ResponseRun | undefined> {
    const [begun] = await this.#access.writeUnit(scope, (db) => [
      openOf(db, scope, id)
        .set(({ eb }) => ({ status: 'in_progress', job_id: jobId, n_runs: eb('n_runs', '+', 1) }))
        .returning(['n_runs', 'head', 'input', 'previous_id', 'request']),
      db
        .deleteFrom('response_events')
        .where('tenant', '=', scope.tenant)
        .where('response_id', '=', id)
        .where('first_sequence', '>', LAST_OF_CREATION)
        .where(({ exists, selectFrom }) =>
          exists(selectFrom('responses').select('id').where('id', '=', id).where('status', '=', 'in_progress')),
        ),
    ]);
    const row = begun?.rows[0] as unknown as ResponseTables['responses'] | undefined;
    return row && toRun(scope, id, row);
  }

  /** False: another run, a cancellation or a deletion has come between, and nothing was saved. */
  async append(run: ResponseRun, batch: EventBatch): Promise<boolean> {
    const [result] = await this.#access.writeUnit(run.scope, (db) => [insertEvents(db, run, batch)]);
    return result?.affectedRows === 1;
  }

  /** Saves the last events with the end, whose own event has the number `endSequence`. False: as for append(). */
  async finish(run: ResponseRun, end: ResponseEnd, endSequence: number, batch: EventBatch | undefined): Promise<boolean> {
    const ended = endMembers(end);
    const results = await this.#access.writeUnit(run.scope, (db) => [
      ...(batch ? [insertEvents(db, run, batch)] : []),
      openOf(db, run.scope, run.id)
        .set(({ eb }) => ({
          ...ended,
          end_sequence: endSequence,
          n_bytes: eb('n_bytes', '+', Buffer.byteLength(ended.output)),
        }))
        .where('n_runs', '=', run.run),
    ]);
    return results.at(-1)?.affectedRows === 1;
  }

  /** Ends a response whose job will not. */
  async fail(scope: TenantScope, id: string, error: ResponseFailure): Promise<void> {
    const ended = endMembers({ status: 'failed', output: [], error });
    await this.#access.writeUnit(scope, (db) => [
      openOf(db, scope, id).set({ ...ended, end_sequence: sql<number>`(n_runs + 1) * ${sql.lit(firstSequenceOf(2))}` }),
    ]);
  }

  /** False: it has ended, or is not there. */
  async cancel(scope: TenantScope, id: string): Promise<boolean> {
    const [result] = await this.#access.writeUnit(scope, (db) => [
      openOf(db, scope, id).set({ status: 'cancelled', request: null }),
    ]);
    return result?.affectedRows === 1;
  }

  /** The response, and events behind `after`, as they were at one moment: of an ended one, no batch means that all were read. */
  async readAfter(scope: TenantScope, id: string, after: number): Promise<EventPage> {
    return await this.#access.read(scope, async (db) => {
      const row = await db
        .selectFrom('responses')
        .select(shownColumns)
        .where('tenant', '=', scope.tenant)
        .where('id', '=', id)
        .executeTakeFirst();
      const batches = await db
        .selectFrom('response_events')
        .select(['first_sequence as first', 'last_sequence as last', 'frames'])
        .where('tenant', '=', scope.tenant)
        .where('response_id', '=', id)
        .where('last_sequence', '>', after)
        .orderBy('first_sequence')
        .limit(maxBatchesAtATime)
        .execute();
      return { response: row && toKeptResponse(row), batches };
    });
  }
}

function toRun(scope: TenantScope, id: string, row: ResponseTables['responses']): ResponseRun {
  return {
    scope,
    id,
    run: row.n_runs,
    head: JSON.parse(row.head) as Record<string, unknown>,
    input: JSON.parse(row.input) as KeptItem[],
    previousId: row.previous_id ?? undefined,
    request: JSON.parse(row.request ?? 'null') as unknown,
  };
}

function updateOf(db: Db, { tenant }: TenantScope, id: string) {
  return db.updateTable('responses').where('tenant', '=', tenant).where('id', '=', id);
}

function openOf(db: Db, scope: TenantScope, id: string) {
  return updateOf(db, scope, id).where('status', 'in', ['queued', 'in_progress']);
}

/** Inserts nothing unless the run is the latest one of a response that is still open. */
function insertEvents(db: Db, { scope, id, run }: ResponseRun, { first, last, frames }: EventBatch) {
  return db
    .insertInto('response_events')
    .columns(['tenant', 'response_id', 'first_sequence', 'last_sequence', 'frames'])
    .expression(({ selectFrom }) =>
      selectFrom('responses')
        .select([
          'tenant',
          'id',
          // PostgreSQL takes a parameter of a select list for text.
          sql<number>`cast(${first} as bigint)`.as('first_sequence'),
          sql<number>`cast(${last} as bigint)`.as('last_sequence'),
          sql<string>`cast(${frames} as text)`.as('frames'),
        ])
        .where('tenant', '=', scope.tenant)
        .where('id', '=', id)
        .where('status', '=', 'in_progress')
        .where('n_runs', '=', run),
    );
}
