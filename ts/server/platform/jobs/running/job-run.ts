/** One job while this process runs it: its context, what it saves, and how it ends. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Static, TSchema } from 'typebox';
import { type BackoffRange, backoffMs, defaultBackoff } from '../../backoff.ts';
import { DomainError } from '../../errors/domain-error.ts';
import type { Log } from '../../log/log.ts';
import { StorageError, tenantScope } from '../../storage/index.ts';
import type { EstimatedProgress, Job, JobFailure, JobProgress } from '../job.ts';
import { JobError, JobFailedError } from '../job-error.ts';
import type { AnyJobKind, JobContext } from '../job-kind.ts';
import type { ClaimStore } from '../store/claim-store.ts';
import { type JobRow, toJob } from '../store/job-tables.ts';
import { checkedStep, jsonOf } from './json-value.ts';

/** Between two times that followers hear of progress, and that it is saved. */
const NOTIFY_MS = 100;
const SAVE_PROGRESS_MS = 1_000;
/** Between attempts to record how a job ended while the database does not take it. */
const RECORD_RETRY_MS = 500;
const MAX_MESSAGE = 500;

export interface JobRunParts {
  readonly row: JobRow;
  readonly kind: AnyJobKind;
  readonly claims: ClaimStore;
  readonly log: Log;
  now(): number;
  /** False once other nodes may hold this one dead. */
  isAlive(): boolean;
  /** The job has changed: progress, or a step towards its end. */
  onChange(job: Job): void;
}

/** Why a run was stopped before its end. */
export type Interruption = 'stopping' | 'lost' | 'cancelled';

/** What a run came to. */
export type RunOutcome = 'done' | 'failed' | 'retried' | 'cancelled' | 'released' | 'lost';

const outcomeUnknown: JobFailure = {
  code: 'step_outcome_unknown',
  message: 'The job was interrupted within a step that must not be done twice, so nobody knows whether it was done.',
  remedy: 'Look whether its effect is there, then enqueue the job again if it is not.',
};

export class JobRun {
  readonly #parts: JobRunParts;
  readonly #controller = new AbortController();
  readonly #estimate = new TimeEstimate();
  readonly #notify: Throttle;
  readonly #save: Throttle;
  #progress: EstimatedProgress | undefined;
  #interruption: Interruption | undefined;
  #isStepOpen = false;
  /** Attempts that failed, of those that count still. */
  #failures: number;
  #isAbandoned = false;

  constructor(parts: JobRunParts) {
    this.#parts = parts;
    this.#progress = toJob(parts.row).progress;
    this.#failures = parts.row.failures;
    this.#notify = new Throttle(NOTIFY_MS, () => parts.onChange(this.job));
    this.#save = new Throttle(SAVE_PROGRESS_MS, () => void this.#saveProgress());
  }

  get id(): string {
    return this.#parts.row.id;
  }

  get kind(): AnyJobKind {
    return this.#parts.kind;
  }

  /** As it is now, with progress that is not saved yet. */
  get job(): Job {
    const isCancelRequested = this.#interruption === 'cancelled' || this.#parts.row.cancel_requested === 1;
    return { ...toJob(this.#parts.row), progress: this.#progress, isCancelRequested };
  }

  /** Aborts the signal. The first reason counts, except that a lost job stays lost. */
  interrupt(why: Interruption): void {
    if (this.#interruption === undefined || why === 'lost') this.#interruption = why;
    this.#controller.abort(new JobError('job_lost', `The job was interrupted: ${why}.`, ''));
  }

  /** Records nothing any more: another node has decided how the job goes on. */
  abandon(): void {
    this.#isAbandoned = true;
    this.interrupt('lost');
  }

  /** Gives the job back although it has not ended in time. What it still does cannot be saved any more. */
  async giveUp(): Promise<void> {
    const { claims, row, now } = this.#parts;
    this.abandon();
    if (this.#isStepOpen) await claims.fail(row, outcomeUnknown, now());
    else await claims.release(row, now());
  }

  /** Runs the job and records how it ended. Never rejects. */
  async run(): Promise<RunOutcome> {
    const { kind, row, log } = this.#parts;
    try {
      const result = jsonOf('result', await kind.run(this.#context()));
      return await this.#record(() => this.#finish(result));
    } catch (error) {
      if (this.#interruption === undefined) log.warn('a job failed', { ...fieldsOf(row), error: String(error) });
      return await this.#record(() => this.#endAfter(error));
    } finally {
      this.#notify.stop();
      this.#save.stop();
    }
  }

  #context(): JobContext<unknown, unknown> {
    const { row, kind, log } = this.#parts;
    const attempt = () => this.#failures + 1;
    return {
      id: row.id,
      input: JSON.parse(row.input) as unknown,
      scope: tenantScope(row.tenant),
      owner: row.owner ?? undefined,
      get attempt() {
        return attempt();
      },
      signal: this.#controller.signal,
      checkpoint: checkedStep(kind.step as TSchema | undefined, row.step) as Static<TSchema>,
      saveStep: (step) => this.#saveStep(step),
      beginStep: (name) => this.#beginStep(name),
      progress: (progress) => this.#report(progress),
      log: log.child(fieldsOf(row)),
    };
  }

  async #saveStep(step: unknown): Promise<void> {
    const { claims, row, kind } = this.#parts;
    const text = jsonOf('step', step) ?? 'null';
    const failures = kind.countsAttemptsFromStep ? 0 : this.#failures;
    this.#keep(await claims.saveStep(row, text, this.#progressText(), failures));
    this.#failures = failures;
    this.#isStepOpen = false;
  }

  async #beginStep(name: string): Promise<void> {
    const { claims, row } = this.#parts;
    this.#keep(await claims.beginStep(row, name));
    this.#isStepOpen = true;
  }

  #keep(isOurs: boolean): void {
    // A process that stood still may learn late that a step was saved, when another node has already gone on from it.
    if (isOurs && !this.#isAbandoned && this.#parts.isAlive()) return;
    this.interrupt('lost');
    throw new JobError(
      'job_lost',
      'Another node has taken this job over.',
      'Stop: what is done from here on would be done twice.',
    );
  }

  #report(progress: JobProgress): void {
    const { message } = progress;
    const shown = message === undefined ? progress : { ...progress, message: message.slice(0, MAX_MESSAGE) };
    this.#progress = this.#estimate.add(shown, this.#parts.now());
    this.#notify.ask();
    this.#save.ask();
  }

  async #saveProgress(): Promise<void> {
    const { claims, row, log } = this.#parts;
    try {
      if (!this.#isAbandoned) await claims.saveProgress(row, this.#progressText());
    } catch (error) {
      log.debug('the progress of a job was not saved', { job: row.id, error: String(error) });
    }
  }

  #progressText(): string | null {
    return this.#progress === undefined ? null : JSON.stringify(this.#progress);
  }

  async #finish(result: string | null): Promise<RunOutcome> {
    const { claims, row, now } = this.#parts;
    return (await claims.finish(row, result, this.#progressText(), now())) ? 'done' : 'lost';
  }

  async #endAfter(error: unknown): Promise<RunOutcome> {
    const { claims, row, kind, now } = this.#parts;
    const ended = async (outcome: RunOutcome, write: Promise<boolean>) => ((await write) ? outcome : 'lost');
    const interrupted = this.#interruption !== undefined;
    if (this.#interruption === 'cancelled') return await ended('cancelled', claims.cancelled(row, now()));
    if (this.#isStepOpen) return await ended('failed', claims.fail(row, interrupted ? outcomeUnknown : failureOf(error), now()));
    if (interrupted) return await ended('released', claims.release(row, now()));
    const failures = this.#failures + 1;
    if (error instanceof JobFailedError || failures >= row.max_attempts)
      return await ended('failed', claims.fail(row, failureOf(error), now()));
    const runAfter = now() + pauseMs(error, failures, (kind.backoffMs as BackoffRange | undefined) ?? defaultBackoff);
    return await ended('retried', claims.retry(row, failureOf(error), runAfter, now()));
  }

  /** Tries until the database takes it: a job that ended must not look as if it ran. */
  async #record(write: () => Promise<RunOutcome>): Promise<RunOutcome> {
    for (;;) {
      if (this.#isAbandoned) return 'lost';
      try {
        return await write();
      } catch (error) {
        const { row, log } = this.#parts;
        log.warn('the end of a job was not recorded', { ...fieldsOf(row), error: String(error) });
        if (error instanceof StorageError && error.code === 'storage_closed') return 'lost';
        await wait(RECORD_RETRY_MS);
      }
    }
  }
}

function pauseMs(error: unknown, failures: number, range: BackoffRange): number {
  const askedMs = error instanceof DomainError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(backoffMs(failures, range), Math.min(askedMs, range.longest));
}

/** Says what the tenant learns of a thrown value. Errors of ours have a lowercase code; the text of others may tell what is not the tenant's. */
function failureOf(error: unknown): JobFailure {
  if (error instanceof Error) {
    const { code, remedy } = error as { code?: unknown; remedy?: unknown };
    if (typeof code === 'string' && /^[a-z][a-z0-9_]*$/.test(code))
      return { code, message: error.message, ...(typeof remedy === 'string' && remedy !== '' && { remedy }) };
  }
  return { code: 'internal', message: 'The job failed unexpectedly.', remedy: 'The log of the node says why.' };
}

/** Before so much time has passed, a rate says little. */
const LEAST_MS = 500;

/** Estimates when a job will be done, from what it did since its first report in this process. */
export class TimeEstimate {
  #firstDone: number | undefined;
  #firstAt = 0;

  /** `now` is in milliseconds since 1970. */
  add(progress: JobProgress, now: number): EstimatedProgress {
    const { done, total } = progress;
    if (this.#firstDone === undefined || done < this.#firstDone) {
      this.#firstDone = done;
      this.#firstAt = now;
    }
    const elapsedMs = now - this.#firstAt;
    const advanced = done - this.#firstDone;
    if (total === undefined || advanced <= 0 || elapsedMs < LEAST_MS) return progress;
    return { ...progress, endsAt: Math.round(now + (Math.max(0, total - done) * elapsedMs) / advanced) };
  }
}

function fieldsOf({ id, kind, tenant }: JobRow) {
  return { job: id, kind, tenant };
}

/** Runs something soon after it was asked for, and not more often than every `intervalMs`. */
class Throttle {
  readonly #intervalMs: number;
  readonly #run: () => void;
  #lastAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(intervalMs: number, run: () => void) {
    this.#intervalMs = intervalMs;
    this.#run = run;
  }

  ask(): void {
    if (this.#timer !== undefined) return;
    const waitMs = this.#lastAt + this.#intervalMs - performance.now();
    if (waitMs <= 0) this.#fire();
    else this.#timer = setTimeout(() => this.#fire(), waitMs);
  }

  /** Forgets what was asked for. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #fire(): void {
    this.#timer = undefined;
    this.#lastAt = performance.now();
    this.#run();
  }
}
