/**
 * Durable background jobs: a module declares kinds of them, anyone enqueues, and one node of the database runs each. A job survives kill -9
 * and goes on from its last saved step; tenants share the runners fairly.
 */

export { jobDone, jobFailed } from './ended-events.ts';
export {
  type EstimatedProgress,
  hasEnded,
  JOB_STATES,
  type Job,
  type JobFailure,
  type JobProgress,
  type JobState,
} from './job.ts';
export { JobError, type JobErrorCode, JobFailedError } from './job-error.ts';
export type { JobListener } from './job-followers.ts';
export type { JobContext, JobKind } from './job-kind.ts';
export type { EnqueueOptions, JobQueue } from './job-queue.ts';
export { Jobs, type JobsHealth } from './jobs.ts';
export type { JobsOptions } from './jobs-options.ts';
export type { JobFilter } from './store/job-store.ts';
export { jobsMigrations } from './store/migrations.ts';
