/** Pulls over HTTP: begin one, follow it, list them, cancel one. */
import Type from 'typebox';
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import { json, type Reply, type RequestContext, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { jobStream } from '../../../platform/jobs/api/job-stream.ts';
import { JobState, JobView, viewOf } from '../../../platform/jobs/api/job-view.ts';
import { JobError, type Jobs } from '../../../platform/jobs/index.ts';
import { StorageError } from '../../../platform/storage/index.ts';
import { type SecurityApi, toolCallErrors } from '../../security/index.ts';
import { inferenceError, inferenceErrors } from '../errors.ts';
import { inferenceFailure } from '../failure.ts';
import { type ModelPulls, PULL_KIND } from '../pulls/model-pulls.ts';
import { PullRequest } from '../pulls/pull-input.ts';
import { catalogueRoute } from './catalogue-route.ts';

const path = '/api/v1/models/pulls';
const DEFAULT_LIMIT = 50;
const refusals = [
  'invalid_request',
  'address_refused',
  'model_source_not_found',
  'model_in_use',
  'queue_full',
  'internal',
  'storage_unavailable',
] as const;

export interface PullRouteDeps {
  readonly pulls: ModelPulls;
  readonly jobs: Jobs;
  /** Asked before a model comes that every tenant can use. */
  readonly security: Pick<SecurityApi, 'requireToolCall'>;
}

const { get, post, del } = routes({ tag: 'Models', auth: 'admin', scope: 'models:manage', errors: inferenceErrors });

export function pullRoutes(deps: PullRouteDeps): Route[] {
  return [pullRoute(deps), listRoute(deps), cancelRoute(deps), catalogueRoute(() => deps.pulls.spaceBytes())];
}

function pullRoute(deps: PullRouteDeps): Route {
  return post('/api/v1/models/pull', {
    maxBody: 16_384,
    summary: 'Fetch a model: resumable, verified, all or nothing',
    description:
      'The pull is a background job, which goes on when the client leaves and when the server restarts. With `stream` the answer is events ' +
      'as those of GET /api/v1/system/jobs/{id}/events, until the job ends; without, the job as it begins. A second pull of the same model ' +
      'joins the first. In a cluster a file of a known SHA-256 comes from a node that has it, and a name that the catalogue lacks is one of a ' +
      'model of another node. Why a pull failed stands in the job’s `error`: model_exists, not_a_model, checksum_mismatch, no_space, ' +
      'source_unreachable, source_refused, source_needs_permission, address_refused, model_source_not_found or model_in_use.',
    body: PullRequest,
    responses: { 200: JobView, 202: Type.Object({ job: JobView }) },
    stream: JobView,
    errors: [...refusals, ...toolCallErrors],
    handle: (context) => pull(deps, context),
  });
}

async function pull(
  { pulls, jobs, security }: PullRouteDeps,
  { body, caller, headers, signal }: RequestContext<unknown, unknown, PullRequest>,
): Promise<Reply> {
  security.requireToolCall(caller, 'models.pull');
  const wantsStream = body.stream ?? headers.get('accept')?.includes('text/event-stream') ?? false;
  return known<Reply>(async () => {
    const job = await pulls.enqueue(caller, body);
    if (wantsStream) return jobStream(jobs, scopeOf(caller), job.id, signal);
    return json(202, { job: viewOf(job) }, { location: `/api/v1/system/jobs/${job.id}` });
  });
}

function listRoute({ jobs }: PullRouteDeps): Route {
  return get(path, {
    summary: 'Pulls of models, newest first',
    description: 'Ended ones are kept for a while. Each is followed by GET /api/v1/system/jobs/{id}/events.',
    query: Type.Object({
      state: Type.Optional(JobState),
      before: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: '`next` of the page before.' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: `${DEFAULT_LIMIT} by default.` })),
    }),
    answer: Type.Object({ pulls: Type.Array(JobView), next: Type.Union([Type.String(), Type.Null()]) }),
    errors: ['internal', 'storage_unavailable'],
    handle: ({ caller, query }) =>
      known(async () => {
        const limit = query.limit ?? DEFAULT_LIMIT;
        const { rows, hasMore } = await jobs.page(scopeOf(caller), { ...query, kind: PULL_KIND, limit });
        return { pulls: rows.map((job) => viewOf(job)), next: hasMore ? (rows.at(-1)?.id ?? null) : null };
      }),
  });
}

function cancelRoute({ jobs }: PullRouteDeps): Route {
  return del(`${path}/{id}`, {
    summary: 'Cancel a pull',
    description:
      'What has come stays on disk, and the next pull of the model continues it. A pull that has ended stays as it is.',
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) }),
    answer: JobView,
    errors: ['job_not_found', 'internal', 'storage_unavailable'],
    handle: ({ caller, params }) => known(() => cancel(jobs, caller, params.id)),
  });
}

async function cancel(jobs: Jobs, caller: Principal, id: string): Promise<JobView> {
  const { kind } = await jobs.get(scopeOf(caller), id);
  if (kind !== PULL_KIND) throw notFound();
  return viewOf(await jobs.cancel(scopeOf(caller), id));
}

/** Refusals of the jobs and of the database as this module's own. */
export async function known<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof JobError && error.code === 'job_not_found') throw notFound();
    if (error instanceof JobError && error.code === 'job_queue_full')
      throw inferenceError('queue_full', `${error.message} ${error.remedy}`, { retryAfterMs: 60_000, cause: error });
    throw error instanceof StorageError ? inferenceFailure(error) : error;
  }
}

function notFound(): Error {
  return inferenceError('job_not_found', `There is no such pull. GET ${path} lists them; ended ones are kept for a while.`);
}
