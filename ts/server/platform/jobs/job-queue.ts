/** The jobs of one kind, as the module that declared it uses them. */
import type { TenantScope } from '../storage/index.ts';
import type { Job } from './job.ts';

export interface EnqueueOptions {
  /** Who asks for it: a user's name. */
  readonly owner?: string;
  /** Milliseconds since 1970; the job does not run before. */
  readonly runAfter?: number;
  /** While a job of the same tenant, kind and key is queued or running, that one is returned instead of a new one. */
  readonly key?: string;
}

export interface JobQueue<Input> {
  readonly name: string;
  /** Resolves when the job is on disk. Throws JobError. Works whether or not jobs of the kind run on this node. */
  enqueue(scope: TenantScope, input: Input, options?: EnqueueOptions): Promise<Job>;
  /** Jobs of the kind run on this node from now on. The module's `start()` calls it, after what they need is open. */
  start(): void;
  /** Interrupts those that run: they go back to the queue, at their last step, within `limitMs` (default 5 s). For the module's `stop()`. */
  stop(limitMs?: number): Promise<void>;
}
