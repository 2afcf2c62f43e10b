/** Responses that are made in the background: begun, looked at, followed, cancelled and deleted. */

import type { EventStream } from '../../../../../platform/http/route.ts';
import { hasEnded, JobError, type JobQueue, type Jobs } from '../../../../../platform/jobs/index.ts';
import type { Log } from '../../../../../platform/log/log.ts';
import type { Storage, TenantScope } from '../../../../../platform/storage/index.ts';
import { completionFailure } from '../../../declared-errors.ts';
import { completionError, invalid } from '../../../errors.ts';
import { EventFollower } from '../../../event-streams/event-follower.ts';
import { LiveStreams } from '../../../event-streams/live-streams.ts';
import { BackgroundStore } from '../../../stored-responses/background-store.ts';
import { isOpen, type KeptResponse, type NewResponse } from '../../../stored-responses/kept-response.ts';
import type { LiveEvents } from '../../../stored-responses/live-events.ts';
import { eventFrame } from '../open-item.ts';
import type { ResponsesDeps } from '../response-call.ts';
import { responseObject } from '../response-object.ts';
import type { ResponsesRequest } from '../schema.ts';
import { type BackgroundLimits, backgroundRequest } from './background-request.ts';
import { ResponseEvents } from './response-events.ts';
import { responseJob } from './response-job.ts';

/** A response that has no job after this time never gets one: the process ended between the two writes. */
const NO_JOB_LIMIT_MS = 60_000;

interface BackgroundDeps extends ResponsesDeps {
  storage: Storage;
  jobs: Jobs;
  log: Log;
}

export class BackgroundResponses {
  readonly #deps: BackgroundDeps;
  readonly #store: BackgroundStore;
  readonly #live = new LiveStreams<LiveEvents>();
  /** Its `start()` and `stop()` are the module's. */
  readonly queue: JobQueue<{ response_id: string }>;

  constructor(deps: BackgroundDeps) {
    this.#deps = deps;
    this.#store = new BackgroundStore(deps.storage);
    this.queue = deps.jobs.define(responseJob({ ...deps, store: this.#store, live: this.#live }));
  }

  /** Resolves with the response object when the response and its job are on disk. */
  async begin(
    scope: TenantScope,
    kept: NewResponse,
    body: ResponsesRequest,
    limits: BackgroundLimits,
  ): Promise<Record<string, unknown>> {
    const response = responseObject(kept.head, { status: 'queued', output: [] });
    const frames = ['response.created', 'response.queued']
      .map((type, sequence) => eventFrame(type, sequence, { response }))
      .join('');
    try {
      await this.#store.insert(scope, kept, backgroundRequest(body, limits), frames);
      const owner = kept.owner === undefined ? {} : { owner: kept.owner };
      const job = await this.queue.enqueue(scope, { response_id: kept.id }, owner);
      await this.#store.setJob(scope, kept.id, job.id);
      return response;
    } catch (error) {
      // The client gets no id, so nothing may run: a job without its response ends at once.
      await this.#deps.keeper.delete(scope, kept.id).catch(() => undefined);
      throw backgroundFailure(error);
    }
  }

  /** Like the keeper's, and ends a response whose job is gone. */
  async get(scope: TenantScope, id: string): Promise<KeptResponse> {
    return await this.#reconcile(scope, await this.#deps.keeper.get(scope, id));
  }

  /** How to send the events behind `after` (-1: all) to a client. */
  async follow(scope: TenantScope, id: string, after: number): Promise<(stream: EventStream) => void> {
    const response = await this.get(scope, id);
    if (!response.isBackground)
      throw invalid('stream', 'Only responses that were created with background: true can be streamed again.');
    if (!isOpen(response) && after > response.endSequence && response.status !== 'cancelled')
      throw invalid('starting_after', `starting_after must be at most ${response.endSequence}, the number of the last event.`);
    const events = new ResponseEvents(
      { store: this.#store, live: this.#live, reconcile: (scope, open) => this.#reconcile(scope, open) },
      scope,
      id,
    );
    const follower = new EventFollower(events, after, {
      onError: (error) =>
        this.#deps.log.warn('the stream of a background response was cut', { response: id, error: String(error) }),
    });
    return (stream) => void follower.start(stream);
  }

  /** Ends a response that has not ended. The response then. */
  async cancel(scope: TenantScope, id: string): Promise<KeptResponse> {
    const { isBackground } = await this.#deps.keeper.get(scope, id);
    if (!isBackground) throw invalid('background', 'Only responses that were created with background: true can be cancelled.');
    try {
      await this.#store.cancel(scope, id);
    } catch (error) {
      throw completionFailure(error);
    }
    const response = await this.#deps.keeper.get(scope, id);
    await this.#cancelJob(scope, response);
    this.#live.changed(id);
    return response;
  }

  async delete(scope: TenantScope, id: string): Promise<void> {
    const response = await this.#deps.keeper.get(scope, id);
    await this.#deps.keeper.delete(scope, id);
    await this.#cancelJob(scope, response);
    this.#live.changed(id);
  }

  async #cancelJob(scope: TenantScope, { jobId }: KeptResponse): Promise<void> {
    if (jobId === undefined) return;
    await this.#deps.jobs.cancel(scope, jobId).catch((error: unknown) => {
      // What has ended long ago is deleted; and a job that cannot be cancelled now finds that its response has ended.
      if (!(error instanceof JobError)) this.#deps.log.warn('the job of a response was not cancelled', { error: String(error) });
    });
  }

  async #reconcile(scope: TenantScope, response: KeptResponse): Promise<KeptResponse> {
    if (!response.isBackground || !isOpen(response) || this.#live.find(response.id)) return response;
    try {
      const state = await this.#jobState(scope, response);
      if (state === 'open') return response;
      if (state === 'cancelled') await this.#store.cancel(scope, response.id);
      else
        await this.#store.fail(scope, response.id, {
          code: 'internal',
          message: 'The server gave this response up; the log says why.',
        });
    } catch (error) {
      throw completionFailure(error);
    }
    return await this.#deps.keeper.get(scope, response.id);
  }

  async #jobState(scope: TenantScope, { jobId, createdAt }: KeptResponse): Promise<'open' | 'cancelled' | 'gone'> {
    if (jobId === undefined) return createdAt + NO_JOB_LIMIT_MS > Date.now() ? 'open' : 'gone';
    try {
      const job = await this.#deps.jobs.get(scope, jobId);
      if (!hasEnded(job)) return 'open';
      return job.state === 'cancelled' ? 'cancelled' : 'gone';
    } catch (error) {
      if (error instanceof JobError && error.code === 'job_not_found') return 'gone';
      throw error;
    }
  }
}

function backgroundFailure(error: unknown): Error {
  if (!(error instanceof JobError) || error.code !== 'job_queue_full') return completionFailure(error);
  return completionError('queue_full', `${error.message} ${error.remedy}`, { cause: error, retryAfterMs: 1000 });
}
