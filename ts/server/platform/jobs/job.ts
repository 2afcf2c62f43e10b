/** A job as its tenant sees it. */
export const JOB_STATES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

export interface JobProgress {
  readonly done: number;
  readonly total?: number;
  /** What is counted: `bytes`, `documents`. */
  readonly unit?: string;
  /** What happens now, in a few words. */
  readonly message?: string;
}

/** Progress, and when the job will be done if it goes on as before. */
export interface EstimatedProgress extends JobProgress {
  /** Milliseconds since 1970. */
  readonly endsAt?: number;
}

/** Why a job failed, or why its last attempt did. */
export interface JobFailure {
  /** Stable and machine-readable. */
  readonly code: string;
  readonly message: string;
  readonly remedy?: string;
}

export interface Job {
  /** Sorts by the time of enqueueing. */
  readonly id: string;
  readonly kind: string;
  readonly tenant: string;
  /** Who asked for it. */
  readonly owner: string | undefined;
  readonly state: JobState;
  readonly input: unknown;
  readonly result: unknown;
  /** Of a failed job; of a queued one, why its last attempt failed. */
  readonly error: JobFailure | undefined;
  readonly progress: EstimatedProgress | undefined;
  /** Attempts that failed, and the one that runs or succeeded. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** A running job whose cancellation was asked for ends soon, `cancelled` unless it was done before. */
  readonly isCancelRequested: boolean;
  /** Milliseconds since 1970, as all times here: a queued job does not run before. */
  readonly runAfter: number;
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
}

export function hasEnded({ state }: Pick<Job, 'state'>): boolean {
  return state !== 'queued' && state !== 'running';
}
