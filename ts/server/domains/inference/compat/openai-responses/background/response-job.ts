/** The job that makes a background response: from the beginning in each run, with events that followers read meanwhile. */
import Type from 'typebox';
import { DomainError } from '../../../../../platform/errors/domain-error.ts';
import type { JobContext, JobKind } from '../../../../../platform/jobs/index.ts';
import type { Log } from '../../../../../platform/log/log.ts';
import { StreamSession } from '../../../completion/stream-session.ts';
import type { InferenceError, InferenceErrorCode } from '../../../errors.ts';
import { inferenceFailure } from '../../../failure.ts';
import type { BackgroundStore, ResponseRun } from '../../../kept-responses/background-store.ts';
import { type EventBatch, firstSequenceOf } from '../../../kept-responses/event-batch.ts';
import type { ResponseEnd } from '../../../kept-responses/kept-response.ts';
import { LiveEvents } from '../../../kept-responses/live-events.ts';
import type { LiveResponses } from '../../../kept-responses/live-responses.ts';
import type { ResponsesDeps } from '../creation.ts';
import { readResponsesRequest } from '../request.ts';
import type { BackgroundRequest } from './background-request.ts';
import { OutcomeEncoder } from './outcome-encoder.ts';

const Input = Type.Object({ response_id: Type.String() });
const maxAttempts = 5;
/** The engine has queues and limits of its own; this leaves runners for jobs of other kinds. */
const concurrency = 8;

/** Refusals that another attempt may not meet. */
const temporary: readonly InferenceErrorCode[] = [
  'queue_full',
  'rate_limit_exceeded',
  'model_loading',
  'model_unloading',
  'models_busy',
  'storage_unavailable',
];

export interface ResponseJobDeps extends ResponsesDeps {
  store: BackgroundStore;
  live: LiveResponses;
}

interface Generated {
  end: ResponseEnd;
  /** Events that are not saved yet. */
  unsaved: EventBatch | undefined;
  endSequence: number;
}

export function responseJob(deps: ResponseJobDeps): JobKind<typeof Input> {
  return {
    name: 'inference.response',
    input: Input,
    maxAttempts,
    concurrency,
    run: (context) => runResponse(deps, context),
  };
}

type Context = JobContext<{ response_id: string }, unknown>;

async function runResponse(deps: ResponseJobDeps, context: Context): Promise<void> {
  const { scope, input, signal, attempt, id, log } = context;
  const { store, live } = deps;
  const run = await store.begin(scope, input.response_id, id);
  // It was cancelled or deleted, or had ended when the process was killed.
  if (run === undefined) return;
  try {
    const generated = await generate(deps, run, signal, log);
    if (generated) await store.finish(run, generated.end, generated.endSequence, generated.unsaved);
  } catch (error) {
    if (signal.aborted) throw error;
    const failure = inferenceFailure(error);
    if (temporary.includes(failure.code) && attempt < maxAttempts) throw failure;
    if (failure.code === 'internal') log.error('a background response failed', { response: run.id, error: String(error) });
    await store.finish(run, failed(failure), firstSequenceOf(run.run + 1), undefined);
  } finally {
    live.changed(run.id);
  }
}

function failed({ code, message }: InferenceError): ResponseEnd {
  return { status: 'failed', output: [], error: { code, message } };
}

/** Undefined when the response is not this run's any more. */
async function generate(deps: ResponseJobDeps, run: ResponseRun, signal: AbortSignal, log: Log): Promise<Generated | undefined> {
  const { store, live } = deps;
  const encoder = new OutcomeEncoder(run.head, firstSequenceOf(run.run));
  const events = new LiveEvents({
    firstSequence: encoder.nextSequence,
    nextSequence: () => encoder.nextSequence,
    save: (batch) => store.append(run, batch),
    onSaveError: (error) =>
      log.warn('events of a background response were not saved', { response: run.id, error: String(error) }),
    onChange: () => live.changed(run.id),
  });
  live.open(run.id, events);
  // Whatever ends the run ends the engine's work as well.
  const stop = new AbortController();
  try {
    await stream(deps, run, encoder, events, AbortSignal.any([signal, stop.signal]));
    if (!(await events.ended(signal))) return undefined;
    const { outcome, nextSequence } = encoder;
    if (outcome === undefined) throw new Error('the stream of a background response ended without an outcome');
    if (outcome instanceof DomainError) throw outcome;
    return { end: outcome, unsaved: await events.stop(), endSequence: nextSequence };
  } finally {
    stop.abort();
    await events.stop();
    live.close(run.id, events);
  }
}

/** Resolves when the engine has admitted the work, or has it in its queue for long. */
async function stream(
  { service, keeper }: ResponseJobDeps,
  run: ResponseRun,
  encoder: OutcomeEncoder,
  events: LiveEvents,
  signal: AbortSignal,
): Promise<void> {
  const { body, timeoutMs } = run.request as BackgroundRequest;
  const earlier = run.previousId === undefined ? [] : await keeper.earlierItems(run.scope, run.previousId);
  const request = readResponsesRequest({ ...body, input: run.input }, earlier);
  const model = await service.resolve({ ability: 'chat', ...request });
  const session = new StreamSession(encoder);
  const options = { tenant: run.scope.tenant, signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  session.bind(await service.complete(model, request, session, options), {}, signal);
  (await session.reply).start(events);
}
