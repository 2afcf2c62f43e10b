/** What a module declares so that jobs of a kind can be enqueued and run. */
import type { Static, TSchema } from 'typebox';
import type { Log } from '../log/log.ts';
import type { TenantScope } from '../storage/index.ts';
import type { JobProgress } from './job.ts';

export interface JobKind<Input extends TSchema = TSchema, Step extends TSchema = TSchema, Result = unknown> {
  /** The module's name, a dot, and what is done: `inference.pull`. */
  readonly name: string;
  readonly input: Input;
  /** What `saveStep` takes and `checkpoint` gives. */
  readonly step?: Step;
  /** Attempts until a failure is final (default 3). Interruptions of the process are no failures. */
  readonly maxAttempts?: number;
  /** A saved step begins the count of attempts anew, so each step must be a way towards the end (default: all attempts count). */
  readonly countsAttemptsFromStep?: boolean;
  /**
   * The wait before the second attempt, which doubles until `longest`; a random half of it is left out (default 1 s, 10 min). An error that
   * says when to come again, as a DomainError does, is waited for as long, up to `longest`.
   */
  readonly backoffMs?: { readonly first: number; readonly longest: number };
  /** Jobs of this kind that run at a time on one node (default: as many as jobs of all kinds). */
  readonly concurrency?: number;
  /** Its jobs run on the node where they were enqueued, whose files they are about, and keys are the node's too. Default: on any node. */
  readonly isOfNode?: boolean;
  /**
   * Does the work, and resolves with what JSON can hold. What it does between two saved steps is done again after an interruption, so it must
   * be idempotent, or begin with `beginStep()`. It must end soon, by throwing, when `signal` aborts.
   */
  run(context: JobContext<Static<Input>, Static<Step>>): Promise<Result>;
}

export interface JobContext<Input, Step> {
  readonly id: string;
  readonly input: Input;
  readonly scope: TenantScope;
  readonly owner: string | undefined;
  /** Counted from 1, as of now; an interruption does not count. */
  readonly attempt: number;
  /** Aborts when the job is cancelled, when the node stops, and when another node has taken the job over. */
  readonly signal: AbortSignal;
  /** The last saved step, from which to go on. */
  readonly checkpoint: Step | undefined;
  /** Resolves when the step is on disk; after that the job never goes back before it. Throws JobError `job_lost` once another node runs it. */
  saveStep(step: Step): Promise<void>;
  /**
   * Declares that what follows must not be done twice. Until the next `saveStep()`, an interruption or an error ends the job as failed, where
   * it would otherwise be repeated; after an interruption the code is `step_outcome_unknown`.
   */
  beginStep(name: string): Promise<void>;
  /** Cheap: reports are passed on ten times a second at most, and saved once a second. */
  progress(progress: JobProgress): void;
  readonly log: Log;
}

/** A kind of any types, as Jobs holds it. */
// biome-ignore lint/suspicious/noExplicitAny: the types were checked where the kind was declared
export type AnyJobKind = JobKind<any, any, any>;
