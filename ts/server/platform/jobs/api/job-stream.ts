/** The reply that follows a job to its end. */
import type { EventsReply } from '../../http/route.ts';
import type { TenantScope } from '../../storage/index.ts';
import type { Jobs } from '../index.ts';
import { JobEvents } from './job-events.ts';

/** Ends with the job, or when `signal` aborts; the job goes on without its followers. Throws JobError `job_not_found`. */
export async function jobStream(jobs: Jobs, scope: TenantScope, id: string, signal: AbortSignal): Promise<EventsReply> {
  const events = new JobEvents();
  const stop = await jobs.follow(scope, id, (job) => events.take(job));
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  return { kind: 'events', headers: {}, start: (stream) => events.open(stream) };
}
