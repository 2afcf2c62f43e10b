import type { EstimatedProgress, Job, JobFailure, JobState } from '../job.ts';

export interface JobRow {
  tenant: string;
  id: string;
  kind: string;
  owner: string | null;
  /** Of the jobs that are queued or running, one of a tenant and kind has it. */
  dedupe_key: string | null;
  state: JobState;
  input: string;
  result: string | null;
  error: string | null;
  progress: string | null;
  /** The last saved step. */
  step: string | null;
  /** The step that was begun, must not be repeated, and is not saved yet. */
  open_step: string | null;
  /** Attempts that failed. */
  failures: number;
  max_attempts: number;
  /** How often a process ended while it ran the job, since the last saved step. */
  interruptions: number;
  cancel_requested: number;
  /** Who runs it; null unless it is running. */
  runner: string | null;
  /** Counts up with each claim: whoever writes as an earlier claim has lost the job. */
  claim: number;
  /** The node that alone may run it; null: any. */
  node: string | null;
  run_after: number;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
}

/** One started Jobs: a process, or a part of its life. */
export interface JobRunnerRow {
  id: string;
  node: string;
  /** By the database's clock. */
  lease_until: number;
}

/** When a node last ran jobs. */
export interface JobNodeRow {
  node: string;
  seen_at: number;
}

export interface JobTables {
  jobs: JobRow;
  job_nodes: JobNodeRow;
  job_runners: JobRunnerRow;
}

export function toJob(row: JobRow): Job {
  return {
    id: row.id,
    kind: row.kind,
    tenant: row.tenant,
    owner: row.owner ?? undefined,
    state: row.state,
    input: JSON.parse(row.input),
    result: parse<unknown>(row.result),
    error: parse<JobFailure>(row.error),
    progress: parse<EstimatedProgress>(row.progress),
    attempts: row.failures + (row.state === 'running' || row.state === 'done' ? 1 : 0),
    maxAttempts: row.max_attempts,
    isCancelRequested: row.cancel_requested === 1,
    runAfter: row.run_after,
    createdAt: row.created_at,
    startedAt: row.started_at ?? undefined,
    endedAt: row.ended_at ?? undefined,
  };
}

function parse<T>(text: string | null): T | undefined {
  return text === null ? undefined : (JSON.parse(text) as T);
}
