/** The runners and their leases, and what becomes of the jobs of one that is dead. */
import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import type { EventRow } from '../../events/index.ts';
import { databaseTime, type StorageAccess, systemScope } from '../../storage/index.ts';
import { jobFailed } from '../ended-events.ts';
import type { JobFailure } from '../job.ts';
import type { JobTables } from './job-tables.ts';

/** A job that brings its process down would otherwise do so for ever. */
const MAX_INTERRUPTIONS = 5;

const stepOutcomeUnknown: JobFailure = {
  code: 'step_outcome_unknown',
  message: 'The process ended within a step that must not be done twice, so nobody knows whether it was done.',
  remedy: 'Look whether its effect is there, then enqueue the job again if it is not.',
};
const interruptedRepeatedly: JobFailure = {
  code: 'interrupted_repeatedly',
  message: `The process ended ${MAX_INTERRUPTIONS + 1} times while it ran this job, without a step between.`,
  remedy: 'See the log of the node for what ended it.',
};

const nodeGone: JobFailure = {
  code: 'node_gone',
  message: 'The node that alone can do this, as its files are meant, has not run for a day.',
  remedy: 'Start that node and enqueue the job again, or do it on another node.',
};

export class RunnerStore {
  readonly #access: StorageAccess<JobTables>;
  readonly #tellsEnds: boolean;

  /** `tellsEnds`: a job that ends with its runner is recorded in the outbox, in the same transaction. */
  constructor(access: StorageAccess<JobTables>, tellsEnds: boolean) {
    this.#access = access;
    this.#tellsEnds = tellsEnds;
  }

  /** Begins a runner. Earlier ones of the same node are dead, and their jobs are queued again. The number of those jobs. */
  async register(runner: string, node: string, leaseMs: number, now: number): Promise<number> {
    const time = databaseTime(this.#access.dialect);
    const results = await this.#access.writeUnit(systemScope(), (db) => [
      db.deleteFrom('job_runners').where('node', '=', node),
      ...orphanStatements(db, now),
      ...this.#told(db, now),
      db.insertInto('job_runners').values({ id: runner, node, lease_until: sql<number>`${time} + ${leaseMs}` }),
    ]);
    return countOrphans(results);
  }

  /** False when another node has held the runner dead. */
  async renew(runner: string, leaseMs: number): Promise<boolean> {
    const time = databaseTime(this.#access.dialect);
    const [renewed] = await this.#access.writeUnit(systemScope(), (db) => [
      db
        .updateTable('job_runners')
        .set({ lease_until: sql<number>`${time} + ${leaseMs}` })
        .where('id', '=', runner),
    ]);
    return renewed?.affectedRows === 1;
  }

  /** Queues the jobs of runners whose lease is over again, so that another one takes them. The number of those jobs. */
  async recoverExpired(runner: string, now: number): Promise<number> {
    const time = databaseTime(this.#access.dialect);
    const expired = (db: Kysely<JobTables>) =>
      db.selectFrom('job_runners').where('lease_until', '<', time).where('id', '!=', runner);
    const found = await this.#access.read(systemScope(), (db) => expired(db).select('id').limit(1).execute());
    if (found.length === 0) return 0;
    const results = await this.#access.writeUnit(systemScope(), (db) => [
      db.deleteFrom('job_runners').where('lease_until', '<', time).where('id', '!=', runner),
      ...orphanStatements(db, now),
      ...this.#told(db, now),
    ]);
    return countOrphans(results);
  }

  /** Notes that the node is there, and ends what waits for nodes that were not since `before`. The number of those jobs. */
  async failJobsOfGoneNodes(node: string, before: number, now: number): Promise<number> {
    const [, failed] = await this.#access.writeUnit(systemScope(), (db) => [
      db
        .insertInto('job_nodes')
        .values({ node, seen_at: now })
        .onConflict((conflict) => conflict.column('node').doUpdateSet({ seen_at: now })),
      db
        .updateTable('jobs')
        .set({ state: 'failed', error: JSON.stringify(nodeGone), ended_at: now })
        .where('state', '=', 'queued')
        .where('node', 'is not', null)
        .where('created_at', '<', before)
        .where((job) =>
          job.not(
            job.exists(
              job
                .selectFrom('job_nodes')
                .select('job_nodes.node')
                .whereRef('job_nodes.node', '=', 'jobs.node')
                .where('seen_at', '>=', before),
            ),
          ),
        ),
      ...this.#told(db, now),
    ]);
    return failed?.affectedRows ?? 0;
  }

  /** Ends a runner in order, after its jobs. */
  async remove(runner: string, now: number): Promise<void> {
    await this.#access.writeUnit(systemScope(), (db) => [
      db.deleteFrom('job_runners').where('id', '=', runner),
      ...orphanStatements(db, now),
      ...this.#told(db, now),
    ]);
  }

  /** Behind the statements that end orphans. Another node that looks in the same millisecond may tell of a job again, as events allow. */
  #told(db: Kysely<JobTables>, now: number) {
    if (!this.#tellsEnds) return [];
    const failures = [stepOutcomeUnknown, interruptedRepeatedly, nodeGone];
    const toJson = sql.raw(this.#access.dialect === 'sqlite' ? 'json_object' : 'json_build_object');
    const cases = failures.map((failure) => sql`when ${JSON.stringify(failure)} then ${failure.code}`);
    const code = sql`case error ${sql.join(cases, sql` `)} end`;
    const payload = sql<string>`cast(${toJson}('id', id, 'kind', kind, 'owner', owner, 'code', ${code}) as text)`;
    return [
      (db as unknown as Kysely<JobTables & { events: EventRow }>)
        .insertInto('events')
        .columns(['tenant', 'type', 'payload', 'recorded_at'])
        .expression((from) =>
          from
            .selectFrom('jobs')
            .select([
              'tenant',
              sql<string>`cast(${jobFailed.name} as text)`.as('type'),
              payload.as('payload'),
              sql<number>`cast(${now} as bigint)`.as('recorded_at'),
            ])
            .where('state', '=', 'failed')
            .where('ended_at', '=', now)
            .where(
              'error',
              'in',
              failures.map((failure) => JSON.stringify(failure)),
            ),
        ),
    ];
  }
}

function countOrphans(results: readonly { affectedRows: number }[]): number {
  return results.slice(1, 5).reduce((sum, { affectedRows }) => sum + affectedRows, 0);
}

/** The jobs that run for a runner which is no longer there: each ends or is queued again. */
function orphanStatements(db: Kysely<JobTables>, now: number) {
  const orphans = () => db.updateTable('jobs').where(isOrphan);
  const ended = { runner: null, ended_at: now };
  const failed = (failure: JobFailure) => ({ ...ended, state: 'failed' as const, error: JSON.stringify(failure) });
  return [
    orphans()
      .set({ ...ended, state: 'cancelled' })
      .where('cancel_requested', '=', 1),
    orphans().set(failed(stepOutcomeUnknown)).where('open_step', 'is not', null),
    orphans().set(failed(interruptedRepeatedly)).where('interruptions', '>=', MAX_INTERRUPTIONS),
    orphans().set((eb) => ({ state: 'queued', runner: null, interruptions: eb('interruptions', '+', 1) })),
  ];
}

function isOrphan(job: ExpressionBuilder<JobTables, 'jobs'>): Expression<SqlBool> {
  const runners = job.selectFrom('job_runners').select('job_runners.id').whereRef('job_runners.id', '=', 'jobs.runner');
  return job.and([job('state', '=', 'running'), job.not(job.exists(runners))]);
}
