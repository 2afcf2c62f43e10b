/** Durable background jobs of all modules. */
import type { Static, TSchema } from 'typebox';
import type { Belongings } from '../module/belongings.ts';
import { Repeater } from '../repeater.ts';
import { countedSource, SERIES_STEP_MS, type SeriesSource } from '../series/series-registry.ts';
import type { Page, TenantScope } from '../storage/index.ts';
import type { Job } from './job.ts';
import { hasEnded } from './job.ts';
import { JobError } from './job-error.ts';
import { JobFollowers, type JobListener } from './job-followers.ts';
import { JobIntake } from './job-intake.ts';
import type { AnyJobKind, JobKind } from './job-kind.ts';
import { JobMetrics } from './job-metrics.ts';
import type { EnqueueOptions, JobQueue } from './job-queue.ts';
import { type JobsOptions, type ResolvedJobsOptions, resolveJobsOptions } from './jobs-options.ts';
import { JobScheduler } from './running/job-scheduler.ts';
import { JobWatch } from './running/job-watch.ts';
import { RunnerLease } from './running/runner-lease.ts';
import { ClaimStore } from './store/claim-store.ts';
import { type JobFilter, JobStore } from './store/job-store.ts';
import { type JobRow, type JobTables, toJob } from './store/job-tables.ts';
import { RetentionStore } from './store/retention-store.ts';
import { RunnerStore } from './store/runner-store.ts';

const UPKEEP_MS = 15_000;
const STOP_LIMIT_MS = 5_000;
const MAX_LISTED = 200;

export interface JobsHealth {
  /** On this node. */
  readonly running: number;
  /** On all nodes of the database, as they were counted last. */
  readonly queued: number;
}

export class Jobs implements Belongings {
  readonly #options: ResolvedJobsOptions;
  readonly #intake: JobIntake;
  readonly #store: JobStore;
  readonly #retention: RetentionStore;
  readonly #runners: RunnerStore;
  readonly #metrics: JobMetrics;
  readonly #followers = new JobFollowers();
  readonly #scheduler: JobScheduler;
  readonly #lease: RunnerLease;
  readonly #repeaters: Readonly<Record<'fill' | 'watch' | 'renew' | 'upkeep', Repeater>>;
  #isRunning = false;
  #nQueued = 0;

  constructor(options: JobsOptions) {
    this.#options = resolveJobsOptions(options);
    const { storage, log, metrics, leaseMs, pollMs, maxRunning, now, nodeId } = this.#options;
    const access = storage.access<JobTables>();
    this.#store = new JobStore(access);
    this.#intake = new JobIntake(this.#store, this.#options);
    this.#retention = new RetentionStore(access);
    this.#metrics = new JobMetrics(metrics);
    const claims = new ClaimStore(access, this.#options.tellsEnds);
    const onChange = (job: Job) => this.#followers.publish(job);
    const watch = new JobWatch(this.#store, claims, this.#followers);
    const onEnd = (id: string) => {
      this.#repeaters.fill.wake();
      if (this.#followers.has(id)) this.#repeaters.watch.wake();
    };
    const isAlive = () => this.#lease.isFresh;
    this.#scheduler = new JobScheduler({
      claims,
      log,
      metrics: this.#metrics,
      maxRunning,
      nodeId,
      now,
      isAlive,
      onChange,
      onEnd,
    });
    const onLost = (surely: boolean) => this.#scheduler.lose(surely);
    this.#runners = new RunnerStore(access, this.#options.tellsEnds);
    this.#lease = new RunnerLease({
      runners: this.#runners,
      log,
      leaseMs,
      nodeId,
      now,
      onLost,
    });
    const repeat = (what: string, intervalMs: number, run: () => Promise<void>) =>
      new Repeater({ intervalMs, run, onError: (error) => log.warn(`jobs: ${what} failed`, { error: String(error) }) });
    this.#repeaters = {
      fill: repeat('taking the next job', pollMs, () => this.#scheduler.fill(this.#lease.runner)),
      watch: repeat('looking for changes', pollMs, () => watch.look(this.#lease.runner, this.#scheduler)),
      renew: repeat('the sign of life', leaseMs / 3, () => this.#lease.renew()),
      upkeep: repeat('upkeep', UPKEEP_MS, () => this.#keepUp()),
    };
  }

  /** Declares a kind; does no I/O. Its jobs run on this node between the queue's `start()` and `stop()`. Throws for a name that is taken. */
  define<Input extends TSchema, Step extends TSchema, Result>(kind: JobKind<Input, Step, Result>): JobQueue<Static<Input>> {
    this.#intake.define(kind);
    return {
      name: kind.name,
      enqueue: (scope, input, options) => this.enqueue(scope, kind.name, input, options),
      start: () => this.#startKind(kind),
      stop: (limitMs = STOP_LIMIT_MS) => this.#stopKind(kind, limitMs),
    };
  }

  /** After storage is open. What this node ran when it was last stopped or killed is queued again. Throws what storage throws. */
  async start(): Promise<void> {
    if (this.#isRunning) return;
    await this.#lease.begin();
    this.#isRunning = true;
    for (const repeater of Object.values(this.#repeaters)) repeater.start();
  }

  /** Interrupts what runs; it goes back to the queue, at its last step. What does not end within `limitMs` is given up. Idempotent. */
  async stop(limitMs = STOP_LIMIT_MS): Promise<void> {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    const { fill, watch, renew, upkeep } = this.#repeaters;
    await Promise.all([fill.stop(), watch.stop(), upkeep.stop()]);
    await this.#scheduler.interrupt(() => true, limitMs);
    await renew.stop();
    await this.#lease.end();
  }

  /** Like the queue's own `enqueue`, for a kind by its name. */
  async enqueue(scope: TenantScope, kind: string, input: unknown, options: EnqueueOptions = {}): Promise<Job> {
    const job = toJob(await this.#intake.enqueue(scope, kind, input, options));
    this.#repeaters.fill.wake();
    return job;
  }

  /** Throws JobError `job_not_found`. */
  async get(scope: TenantScope, id: string): Promise<Job> {
    return this.#shown(required(id, await this.#store.find(scope, id)));
  }

  /** Newest first; up to 200 at a time, or as many as fit into a page. `before` is the last id of the page before. */
  async list(scope: TenantScope, filter: Partial<JobFilter> = {}): Promise<Job[]> {
    return (await this.page(scope, filter)).rows;
  }

  /** Like list(), and tells whether there are more. */
  async page(scope: TenantScope, filter: Partial<JobFilter> = {}): Promise<Page<Job>> {
    const limit = Math.min(filter.limit ?? MAX_LISTED, MAX_LISTED);
    const { rows, hasMore } = await this.#store.list(scope, { ...filter, limit });
    return { rows: rows.map((row) => this.#shown(row)), hasMore };
  }

  /** Ends a queued job at once and asks a running one to end; leaves one that has ended as it is. The job then. Throws JobError. */
  async cancel(scope: TenantScope, id: string): Promise<Job> {
    const before = required(id, await this.#store.find(scope, id));
    const row = required(id, await this.#store.cancel(scope, id, this.#options.now()));
    if (row.state === 'running') this.#scheduler.find(id)?.interrupt('cancelled');
    if (before.state === 'queued' && row.state === 'cancelled') this.#metrics.ended(row.kind, 'cancelled');
    const job = this.#shown(row);
    this.#followers.publish(job);
    return job;
  }

  /** Calls `listener` with the job as it is and after each change, its end last. Returns the way to stop. Throws JobError `job_not_found`. */
  async follow(scope: TenantScope, id: string, listener: JobListener): Promise<() => void> {
    // Before listening: another tenant's job must not be heard, not even once.
    required(id, await this.#store.find(scope, id));
    let hasHeard = false;
    const stop = this.#followers.add(id, (job) => {
      hasHeard = true;
      listener(job);
    });
    const job = await this.get(scope, id).catch((error: unknown) => {
      stop();
      throw error;
    });
    if (hasHeard) return stop;
    if (hasEnded(job)) stop();
    listener(job);
    return stop;
  }

  /** The tenant's jobs that were created in each hour, of all kinds and of each, for as long as ended jobs are kept. */
  rates(): SeriesSource {
    const { now, retentionMs } = this.#options;
    return countedSource({ source: 'jobs', whole: 'jobs.created', unit: 'jobs', now }, async (scope, since) => {
      // Of an older hour, some jobs may be deleted already.
      const whole = Math.ceil((now() - retentionMs) / SERIES_STEP_MS) * SERIES_STEP_MS;
      const counts = await this.#store.countByHour(scope, Math.max(since, whole));
      return counts.map(({ kind, hour, n }) => ({ name: kind, hour, n }));
    });
  }

  /** Cancels the tenant's jobs and deletes them. Throws JobError `job_running` while one has not ended yet. */
  async eraseTenant(scope: TenantScope): Promise<void> {
    const nRunning = await this.#retention.eraseTenant(scope, this.#options.now());
    this.#repeaters.watch.wake();
    if (nRunning === 0) return;
    throw new JobError('job_running', `${nRunning} jobs of the tenant ${scope.tenant} have not ended yet.`, 'Try again shortly.');
  }

  health(): JobsHealth {
    return { running: this.#scheduler.running, queued: this.#nQueued };
  }

  #startKind(kind: AnyJobKind): void {
    this.#scheduler.accept(kind);
    this.#repeaters.fill.wake();
  }

  async #stopKind(kind: AnyJobKind, limitMs: number): Promise<void> {
    this.#scheduler.refuse(kind);
    await this.#scheduler.interrupt((run) => run.kind.name === kind.name, limitMs);
  }

  /** What this node runs is known newer than the database has it. */
  #shown(row: JobRow): Job {
    const run = this.#scheduler.find(row.id);
    if (run === undefined || row.state !== 'running') return toJob(row);
    return { ...toJob(row), progress: run.job.progress };
  }

  async #keepUp(): Promise<void> {
    const counts = await this.#retention.countQueued();
    this.#metrics.setQueued(counts);
    this.#nQueued = counts.reduce((sum, { n }) => sum + n, 0);
    const { now, retentionMs, nodeGoneMs, nodeId, log } = this.#options;
    await this.#retention.deleteEndedBefore(now() - retentionMs);
    const nFailed = await this.#runners.failJobsOfGoneNodes(nodeId(), now() - nodeGoneMs, now());
    if (nFailed > 0) log.warn('jobs of a node that has not run for long were failed', { jobs: nFailed });
  }
}

function required(id: string, row: JobRow | undefined): JobRow {
  if (row !== undefined) return row;
  throw new JobError(
    'job_not_found',
    `There is no job ${JSON.stringify(id.slice(0, 60))}.`,
    'List the jobs: ended ones are deleted after a while.',
  );
}
