/** Probes over HTTP: what a model can do is measured again. */
import Type from 'typebox';
import { scopeOf } from '../../../platform/http/principal.ts';
import { json, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { jobStream } from '../../../platform/jobs/api/job-stream.ts';
import { JobView, viewOf } from '../../../platform/jobs/api/job-view.ts';
import type { Jobs } from '../../../platform/jobs/index.ts';
import { inferenceErrors } from '../errors.ts';
import type { ProbeJobs } from '../probe/probe-jobs.ts';
import { known } from './pull-routes.ts';

export interface ProbeRouteDeps {
  readonly probes: ProbeJobs;
  readonly jobs: Jobs;
}

const { post } = routes({ tag: 'Models', auth: 'admin', scope: 'models:manage', errors: inferenceErrors });

export function probeRoute({ probes, jobs }: ProbeRouteDeps): Route {
  return post('/api/v1/models/probe', {
    maxBody: 16_384,
    summary: 'Measure what a chat model can do',
    description:
      'A background job of a minute at most, which works while nobody else asks: 24 tasks with invented names, in English and German. What it finds stands in its `result` and as `abilities` in GET /v1/models. With `stream` the answer is events as those of GET /api/v1/system/jobs/{id}/events.',
    body: Type.Object({
      model: Type.String({ minLength: 1, maxLength: 512 }),
      stream: Type.Optional(Type.Boolean({ description: 'Answers with events until the probe ends.' })),
    }),
    responses: { 200: JobView, 202: Type.Object({ job: JobView }) },
    stream: JobView,
    errors: ['invalid_request', 'model_not_found', 'unsupported', 'queue_full', 'internal', 'storage_unavailable'],
    handle: ({ body, caller, signal }) =>
      known(async () => {
        const job = await probes.enqueue(caller, body.model);
        if (body.stream) return jobStream(jobs, scopeOf(caller), job.id, signal);
        return json(202, { job: viewOf(job) }, { location: `/api/v1/system/jobs/${job.id}` });
      }),
  });
}
