/** What the contracts of jobs share: tenants, the input of their jobs, and a job that ends when it is told to. */
import type { Test } from 'tap';
import Type from 'typebox';
import { tenantScope } from '../../storage/index.ts';
import type { JobsOptions } from '../jobs-options.ts';
import type { OpenJobs } from './open-jobs.ts';

export const red = tenantScope('red');
export const blue = tenantScope('blue');
export const Input = Type.Object({ n: Type.Integer() });

/** Jobs on a database of their own, not started yet. */
export type Open = (t: Test, options?: Partial<JobsOptions>) => Promise<OpenJobs>;

/** Rejects when the signal aborts, as a well-behaved job does. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}
