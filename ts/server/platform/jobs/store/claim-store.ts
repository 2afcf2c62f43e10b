/** Which job runs next, and everything that whoever runs it writes. Sees the jobs of all tenants. */
import { type Kysely, sql, type UpdateQueryBuilder, type UpdateResult } from 'kysely';
import type { EventRow, EventType } from '../../events/index.ts';
import { type StorageAccess, systemScope } from '../../storage/index.ts';
import { jobDone, jobFailed } from '../ended-events.ts';
import type { JobFailure } from '../job.ts';
import type { JobRow, JobTables } from './job-tables.ts';

/** A tenant's next job. */
export interface QueueHead {
  readonly tenant: string;
  readonly id: string;
  readonly kind: string;
  /** Jobs of the tenant that run now, on any node. */
  readonly running: number;
  readonly runAfter: number;
}

/** Who takes a job. */
export interface Claimant {
  readonly runner: string;
  readonly node: string;
}

/** What a claim is known by. */
export type Claim = Pick<JobRow, 'id' | 'claim'>;
/** What is told of a job that ended. */
export type EndingJob = Claim & Pick<JobRow, 'tenant' | 'kind' | 'owner'>;

type JobUpdate = UpdateQueryBuilder<JobTables, 'jobs', 'jobs', UpdateResult>;

export class ClaimStore {
  readonly #access: StorageAccess<JobTables>;
  readonly #tellsEnds: boolean;

  /** `tellsEnds`: the end of a job is recorded in the outbox, in the same transaction. */
  constructor(access: StorageAccess<JobTables>, tellsEnds: boolean) {
    this.#access = access;
    this.#tellsEnds = tellsEnds;
  }

  /** Of each tenant, the job of these kinds that has been due for longest of those that the node may run. */
  async listHeads(kinds: readonly string[], node: string, now: number): Promise<QueueHead[]> {
    return await this.#access.read(systemScope(), async (db) => {
      if (this.#access.dialect === 'postgres') await keepToIndexes.execute(db);
      const { rows: tenants } = await nextJobs(kinds, node, now).execute(db);
      const ids = tenants.flatMap(({ id }) => id ?? []);
      if (ids.length === 0) return [];
      const jobs = await db.selectFrom('jobs').select(['id', 'tenant', 'kind', 'run_after']).where('id', 'in', ids).execute();
      const running = new Map(tenants.map((each) => [each.tenant, each.running]));
      return jobs.map(({ run_after, ...job }) => ({ ...job, runAfter: run_after, running: running.get(job.tenant) ?? 0 }));
    });
  }

  /** Undefined when another node was quicker or has it for itself, the job was cancelled, or this runner's lease has been taken from it. */
  async claim(id: string, { runner, node }: Claimant, now: number): Promise<JobRow | undefined> {
    const [claimed] = await this.#access.writeUnit(systemScope(), (db) => [
      db
        .updateTable('jobs')
        .set(({ eb, ref }) => ({
          state: 'running',
          runner,
          claim: eb('claim', '+', 1),
          started_at: eb.fn.coalesce(ref('started_at'), eb.val(now)),
        }))
        .where('id', '=', id)
        .where('state', '=', 'queued')
        .where((where) => where.or([where('node', 'is', null), where('node', '=', node)]))
        .where((where) => where.exists(where.selectFrom('job_runners').select('id').where('id', '=', runner)))
        .returningAll(),
    ]);
    return claimed?.rows[0] as JobRow | undefined;
  }

  /** False when the job is no longer this claim's, here and below. */
  async saveStep(claim: Claim, step: string, progress: string | null, failures: number): Promise<boolean> {
    return await this.#write((db) => [held(db, claim).set({ step, progress, failures, open_step: null, interruptions: 0 })]);
  }

  async beginStep(claim: Claim, name: string): Promise<boolean> {
    return await this.#write((db) => [held(db, claim).set({ open_step: name })]);
  }

  async saveProgress(claim: Claim, progress: string | null): Promise<boolean> {
    return await this.#write((db) => [held(db, claim).set({ progress })]);
  }

  async finish(claim: EndingJob, result: string | null, progress: string | null, now: number): Promise<boolean> {
    const ended = { state: 'done', result, progress, error: null, open_step: null, runner: null, ended_at: now } as const;
    return await this.#end(claim, jobDone, {}, now, (job) => job.set(ended));
  }

  /** Final. */
  async fail(claim: EndingJob, failure: JobFailure, now: number): Promise<boolean> {
    const error = JSON.stringify(failure);
    return await this.#end(claim, jobFailed, { code: failure.code }, now, (job) =>
      job.set((eb) => ({ state: 'failed', error, failures: eb('failures', '+', 1), runner: null, ended_at: now })),
    );
  }

  async cancelled(claim: Claim, now: number): Promise<boolean> {
    return await this.#write((db) => [held(db, claim).set({ state: 'cancelled', runner: null, ended_at: now })]);
  }

  /** Queues the job again after a failure; it ends if its cancellation was asked for meanwhile. */
  async retry(claim: Claim, failure: JobFailure, runAfter: number, now: number): Promise<boolean> {
    const error = JSON.stringify(failure);
    return await this.#requeue(claim, now, (job) =>
      job.set((eb) => ({ error, failures: eb('failures', '+', 1), run_after: runAfter })),
    );
  }

  /** Queues the job again after an orderly interruption. */
  async release(claim: Claim, now: number): Promise<boolean> {
    return await this.#requeue(claim, now, (job) => job);
  }

  /** What runs for the runner according to the database. */
  async listHeld(runner: string): Promise<(Claim & { cancel_requested: number })[]> {
    return await this.#access.read(systemScope(), (db) =>
      db
        .selectFrom('jobs')
        .select(['id', 'claim', 'cancel_requested'])
        .where('state', '=', 'running')
        .where('runner', '=', runner)
        .execute(),
    );
  }

  async #requeue(claim: Claim, now: number, change: (job: JobUpdate) => JobUpdate): Promise<boolean> {
    return await this.#write((db) => [
      held(db, claim).set({ state: 'cancelled', runner: null, ended_at: now }).where('cancel_requested', '=', 1),
      change(held(db, claim)).set({ state: 'queued', runner: null }),
    ]);
  }

  async #end(job: EndingJob, type: EventType, more: object, now: number, end: (job: JobUpdate) => JobUpdate): Promise<boolean> {
    const { id, tenant, kind, owner } = job;
    const payload = { id, kind, owner, ...more };
    type.require(payload);
    const results = await this.#access.writeUnit(systemScope(), (db) => [
      end(held(db, job)),
      ...(this.#tellsEnds
        ? [told(db, job, { tenant, type: type.name, payload: JSON.stringify(payload), recorded_at: now })]
        : []),
    ]);
    return results[0] !== undefined && results[0].affectedRows > 0;
  }

  async #write(build: (db: Kysely<JobTables>) => JobUpdate[]): Promise<boolean> {
    const results = await this.#access.writeUnit(systemScope(), build);
    return results.some(({ affectedRows }) => affectedRows > 0);
  }
}

interface TenantQueue {
  readonly tenant: string;
  /** Its next job; null when none of the kinds is due. */
  readonly id: string | null;
  readonly running: number;
}

/**
 * A queue fills and empties quicker than PostgreSQL's statistics follow. Taking it for nearly empty, the planner would read and sort all that
 * is queued instead of looking into the index. Holds for the transaction.
 */
const keepToIndexes = sql`
  select set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_seqscan', 'off', true)`;

/** The tenants are found by one index look-up each: a plain `distinct` would walk all that is queued. */
function nextJobs(kinds: readonly string[], node: string, now: number) {
  return sql<TenantQueue>`
    with recursive tenants(tenant) as (
      select (select tenant from jobs where state = 'queued' order by state, tenant limit 1)
      union all
      select (
        select jobs.tenant from jobs where jobs.state = 'queued' and jobs.tenant > tenants.tenant order by jobs.state, jobs.tenant limit 1
      )
      from tenants where tenants.tenant is not null
    )
    select tenants.tenant as "tenant",
      (select count(*) from jobs as busy where busy.state = 'running' and busy.tenant = tenants.tenant) as "running",
      (
        select id from jobs as due
        where due.state = 'queued' and due.tenant = tenants.tenant and due.run_after <= ${now} and due.kind in (${sql.join(kinds)})
          and (due.node is null or due.node = ${node})
        order by due.run_after, due.id limit 1
      ) as "id"
    from tenants where tenants.tenant is not null`;
}

/** Behind the update that ends the job: it records nothing where that did not find the claim. */
function told(db: Kysely<JobTables>, { id, claim }: Claim, event: Pick<EventRow, 'tenant' | 'type' | 'payload' | 'recorded_at'>) {
  return (db as unknown as Kysely<JobTables & { events: EventRow }>)
    .insertInto('events')
    .columns(['tenant', 'type', 'payload', 'recorded_at'])
    .expression((from) =>
      from
        .selectFrom('jobs')
        .select([
          sql<string>`cast(${event.tenant} as text)`.as('tenant'),
          sql<string>`cast(${event.type} as text)`.as('type'),
          sql<string>`cast(${event.payload} as text)`.as('payload'),
          sql<number>`cast(${event.recorded_at} as bigint)`.as('recorded_at'),
        ])
        .where('id', '=', id)
        .where('claim', '=', claim)
        .where('state', 'in', ['done', 'failed'])
        .where('ended_at', '=', event.recorded_at),
    );
}

function held(db: Kysely<JobTables>, { id, claim }: Claim): JobUpdate {
  return db.updateTable('jobs').where('id', '=', id).where('claim', '=', claim).where('state', '=', 'running');
}
