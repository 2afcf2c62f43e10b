/** Refusals of Jobs, and failures that a job declares itself. */
export type JobErrorCode =
  /** No job of that id is there for that tenant. */
  | 'job_not_found'
  /** No module of this program declares the kind. */
  | 'unknown_job_kind'
  | 'invalid_job_input'
  /** The input is larger than a job may carry. */
  | 'job_input_too_large'
  /** The tenant has too many queued jobs. */
  | 'job_queue_full'
  /** The job was taken over by another node, or ended meanwhile. */
  | 'job_lost'
  /** It was asked to end, and has not yet. */
  | 'job_running'
  | 'jobs_stopped';

export class JobError extends Error {
  override readonly name = 'JobError';
  readonly code: JobErrorCode;
  readonly remedy: string;

  constructor(code: JobErrorCode, message: string, remedy: string) {
    super(message);
    this.code = code;
    this.remedy = remedy;
  }
}

/** Thrown by a job's `run`: it fails for good, since another attempt would fail as well. The tenant sees all of it. */
export class JobFailedError extends Error {
  override readonly name = 'JobFailedError';
  /** Lowercase words joined by underscores. */
  readonly code: string;
  readonly remedy: string;

  constructor(code: string, message: string, remedy: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.remedy = remedy;
  }
}
