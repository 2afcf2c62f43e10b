/** Jobs as their tenant's rows: enqueue, find, list, cancel. */
import { sql } from 'kysely';
import { SERIES_STEP_MS } from '../../series/series-registry.ts';
import { type Page, readPage, type StorageAccess, type StorageScope, type TenantScope } from '../../storage/index.ts';
import { newTimeOrderedId } from '../../time-ordered-id.ts';
import type { JobState } from '../job.ts';
import type { JobRow, JobTables } from './job-tables.ts';

export interface NewJob {
  readonly kind: string;
  readonly input: string;
  readonly owner: string | undefined;
  readonly key: string | undefined;
  readonly maxAttempts: number;
  readonly runAfter: number;
  readonly node: string | undefined;
}

export interface JobFilter {
  readonly state?: JobState | undefined;
  readonly kind?: string | undefined;
  readonly owner?: string | undefined;
  /** An id: only older jobs. */
  readonly before?: string | undefined;
  readonly limit: number;
}

export class JobStore {
  readonly #access: StorageAccess<JobTables>;

  constructor(access: StorageAccess<JobTables>) {
    this.#access = access;
  }

  /** Undefined when a job with the same key is queued or running. */
  async insert(scope: TenantScope, job: NewJob, now: number): Promise<JobRow | undefined> {
    const { kind, input, owner, key, maxAttempts, runAfter, node } = job;
    const row = {
      tenant: scope.tenant,
      id: newTimeOrderedId(),
      kind,
      input,
      owner: owner ?? null,
      dedupe_key: key ?? null,
      state: 'queued',
      result: null,
      error: null,
      progress: null,
      step: null,
      open_step: null,
      failures: 0,
      max_attempts: maxAttempts,
      interruptions: 0,
      cancel_requested: 0,
      runner: null,
      claim: 0,
      run_after: runAfter,
      node: node ?? null,
      created_at: now,
      started_at: null,
      ended_at: null,
    } as const satisfies JobRow;
    const [inserted] = await this.#access.writeUnit(scope, (db) => [
      db
        .insertInto('jobs')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .returning('id'),
    ]);
    return inserted?.rows.length === 1 ? row : undefined;
  }

  async findOpen(scope: TenantScope, kind: string, key: string): Promise<JobRow | undefined> {
    return await this.#access.read(scope, (db) =>
      db
        .selectFrom('jobs')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('kind', '=', kind)
        .where('dedupe_key', '=', key)
        .where('state', 'in', ['queued', 'running'])
        .executeTakeFirst(),
    );
  }

  async countQueued(scope: TenantScope): Promise<number> {
    const { n } = await this.#access.read(scope, (db) =>
      db
        .selectFrom('jobs')
        .select((of) => of.fn.countAll<number>().as('n'))
        .where('state', '=', 'queued')
        .where('tenant', '=', scope.tenant)
        .executeTakeFirstOrThrow(),
    );
    return n;
  }

  async find(scope: TenantScope, id: string): Promise<JobRow | undefined> {
    return await this.#access.read(scope, (db) =>
      db.selectFrom('jobs').selectAll().where('tenant', '=', scope.tenant).where('id', '=', id).executeTakeFirst(),
    );
  }

  /** The rows of these ids, of any tenant. */
  async findAll(scope: StorageScope, ids: readonly string[]): Promise<JobRow[]> {
    return await this.#access.read(scope, (db) => db.selectFrom('jobs').selectAll().where('id', 'in', ids).execute());
  }

  /** Newest first. */
  async list(scope: TenantScope, { state, kind, owner, before, limit }: JobFilter): Promise<Page<JobRow>> {
    return await this.#access.read(scope, (db) => {
      let query = db.selectFrom('jobs').selectAll().where('tenant', '=', scope.tenant);
      if (state !== undefined) query = query.where('state', '=', state);
      if (kind !== undefined) query = query.where('kind', '=', kind);
      if (owner !== undefined) query = query.where('owner', '=', owner);
      if (before !== undefined) query = query.where('id', '<', before);
      return readPage(query.orderBy('id', 'desc'), limit, ['input', 'result', 'error', 'progress', 'step', 'open_step']);
    });
  }

  /** Counts the jobs that were created at or after `since`, by kind and hour. */
  async countByHour(scope: TenantScope, since: number): Promise<{ kind: string; hour: number; n: number }[]> {
    const hour = sql<number>`created_at - created_at % ${sql.lit(SERIES_STEP_MS)}`;
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('jobs')
        .select((of) => ['kind', hour.as('hour'), of.fn.countAll<number>().as('n')])
        .where('tenant', '=', scope.tenant)
        .where('created_at', '>=', since)
        .groupBy(['kind', hour])
        .orderBy('kind')
        .execute(),
    );
    return rows.map((row) => ({ kind: row.kind, hour: Number(row.hour), n: Number(row.n) }));
  }

  /** Ends a queued job, and asks for the end of a running one. The job as it is then, or undefined when there is none. */
  async cancel(scope: TenantScope, id: string, now: number): Promise<JobRow | undefined> {
    const [, , found] = await this.#access.writeUnit(scope, (db) => {
      const job = () => db.updateTable('jobs').where('tenant', '=', scope.tenant).where('id', '=', id);
      return [
        job().set({ state: 'cancelled', ended_at: now }).where('state', '=', 'queued'),
        job().set({ cancel_requested: 1 }).where('state', '=', 'running'),
        db.selectFrom('jobs').selectAll().where('tenant', '=', scope.tenant).where('id', '=', id),
      ];
    });
    return found?.rows[0] as JobRow | undefined;
  }
}
