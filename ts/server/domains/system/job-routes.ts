/** Background jobs of the caller's tenant: list, look at, follow, cancel. */
import Type from 'typebox';
import { hasRole, type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { Reply, RequestContext, Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { END_EVENT_ID } from '../../platform/jobs/api/job-events.ts';
import { jobStream } from '../../platform/jobs/api/job-stream.ts';
import { JobState, JobView, viewOf } from '../../platform/jobs/api/job-view.ts';
import { type Job, JobError, type Jobs } from '../../platform/jobs/index.ts';
import { named } from '../../platform/schema/named.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import { systemError, systemErrors } from './errors.ts';

const path = '/api/v1/system/jobs';
const JobId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) });
const DEFAULT_LIMIT = 50;
const JobQuery = Type.Object({
  state: Type.Optional(JobState),
  kind: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  before: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: '`next` of the page before.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: `${DEFAULT_LIMIT} by default.` })),
});
const JobPage = named(
  'JobPage',
  Type.Object({
    jobs: Type.Array(JobView),
    next: Type.Union([Type.String(), Type.Null()], { description: 'For `before` of the next page; null after the last job.' }),
  }),
);

const { get, post } = routes({ tag: 'System', auth: 'viewer', scope: 'account:manage', errors: systemErrors });

export function jobRoutes(jobs: Jobs): Route[] {
  return [listRoute(jobs), showRoute(jobs), cancelRoute(jobs), eventsRoute(jobs)];
}

function listRoute(jobs: Jobs): Route {
  return get(path, {
    summary: 'Background jobs, newest first',
    description:
      'A caller sees its own jobs, an administrator all of the tenant. Ended jobs are kept for a while. In a cluster any node lists, shows and ends those ' +
      'of all nodes that answer.',
    query: JobQuery,
    answer: JobPage,
    handle: async ({ caller, query }) => {
      const limit = query.limit ?? DEFAULT_LIMIT;
      const { rows, hasMore } = await jobs.page(scopeOf(caller), { ...query, owner: visibleOwner(caller), limit });
      return { jobs: rows.map((job) => viewOf(job)), next: hasMore ? (rows.at(-1)?.id ?? null) : null };
    },
  });
}

function showRoute(jobs: Jobs): Route {
  return get(`${path}/{id}`, {
    summary: 'One background job',
    params: JobId,
    answer: JobView,
    errors: ['job_not_found'],
    handle: async ({ caller, params }) => viewOf(await visibleJob(jobs, caller, params.id)),
  });
}

function cancelRoute(jobs: Jobs): Route {
  return post(`${path}/{id}/cancel`, {
    maxBody: 1024,
    bodyOptional: true,
    summary: 'Cancel a background job',
    description:
      'A queued job is `cancelled` at once. A running one is told to stop, shows `cancel_requested`, and is `cancelled` soon unless it was ' +
      'done before. A job that has ended stays as it is.',
    params: JobId,
    answer: JobView,
    errors: ['job_not_found'],
    handle: async ({ caller, params }) => {
      const { id } = await visibleJob(jobs, caller, params.id);
      return viewOf(await found(jobs.cancel(scopeOf(caller), id)));
    },
  });
}

function eventsRoute(jobs: Jobs): Route {
  return get(`${path}/{id}/events`, {
    summary: 'Follow a background job',
    description:
      'Each `job` event carries the whole job: first as it is, then after changes, ten times a second at most. The stream ends with the ' +
      `job, after an event with the id \`${END_EVENT_ID}\`. After a lost connection any \`Last-Event-ID\` is accepted: the stream begins ` +
      `with the job as it is; for \`${END_EVENT_ID}\` the answer is 204, upon which an EventSource stops.`,
    params: JobId,
    responses: { 200: JobView, 204: Type.Null() },
    stream: JobView,
    errors: ['job_not_found'],
    handle: (context) => follow(jobs, context),
  });
}

async function follow(jobs: Jobs, { caller, params, headers, signal }: RequestContext<{ id: string }>): Promise<Reply> {
  const { id } = await visibleJob(jobs, caller, params.id);
  if (headers.get('last-event-id') === END_EVENT_ID) return { kind: 'bytes', status: 204, headers: {}, body: '' };
  return found(jobStream(jobs, scopeOf(caller), id, signal));
}

/** Undefined: of all. A caller without an account, as on a node that has none, stands for its tenant. */
function visibleOwner(caller: Principal): string | undefined {
  return hasRole(caller, 'admin') ? undefined : caller.subject;
}

async function visibleJob(jobs: Jobs, caller: Principal, id: string): Promise<Job> {
  const scope: TenantScope = scopeOf(caller);
  const job = await found(jobs.get(scope, id));
  const owner = visibleOwner(caller);
  if (owner === undefined || owner === job.owner) return job;
  throw missing();
}

async function found<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof JobError && error.code === 'job_not_found') throw missing();
    throw error;
  }
}

function missing(): Error {
  return systemError(
    'job_not_found',
    'There is no such job. GET /api/v1/system/jobs lists them; ended ones are kept for a while.',
  );
}
