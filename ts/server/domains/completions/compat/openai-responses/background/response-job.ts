/** The job that makes a background response: from the beginning in each run, with events that followers read meanwhile. */
import Type from 'typebox';
import type { JobUsage } from '../../../../../native/llama-shapes.ts';
import { DomainError } from '../../../../../platform/errors/domain-error.ts';
import type { HttpError } from '../../../../../platform/http/errors.ts';
import { ANONYMOUS } from '../../../../../platform/http/principal.ts';
import type { JobContext, JobKind } from '../../../../../platform/jobs/index.ts';
import type { Log } from '../../../../../platform/log/log.ts';
import type { Frames } from '../../../answer/frames.ts';
import type { AnswerCall, Asker, ModelledAnswer, StreamWire } from '../../../answer/pending-answer.ts';
import { completionFailure, isKnownCode } from '../../../declared-errors.ts';
import type { CompletionError } from '../../../errors.ts';
import type { EventBatch } from '../../../event-streams/event-batch.ts';
import type { LiveStreams } from '../../../event-streams/live-streams.ts';
import { isPassing } from '../../../passing-refusals.ts';
import type { BackgroundStore, ResponseRun } from '../../../stored-responses/background-store.ts';
import type { ResponseEnd } from '../../../stored-responses/kept-response.ts';
import { LiveEvents } from '../../../stored-responses/live-events.ts';
import { firstSequenceOf } from '../../../stored-responses/run-numbers.ts';
import { ResponsesEncoder } from '../event-encoder.ts';
import { needsKnowledge, readFileSearch } from '../file-search/file-search.ts';
import { toldSearch } from '../file-search/search-item.ts';
import { readWithFiles } from '../read-request.ts';
import { readResponsesRequest } from '../request.ts';
import type { ResponsesDeps } from '../response-call.ts';
import { type BackgroundRequest, storedCaller } from './background-request.ts';

const Input = Type.Object({ response_id: Type.String() });
const maxAttempts = 5;
/** The engine has queues and limits of its own; this leaves runners for jobs of other kinds. */
const concurrency = 8;

interface ResponseJobDeps extends ResponsesDeps {
  store: BackgroundStore;
  live: LiveStreams<LiveEvents>;
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
    const failure = completionFailure(error);
    if (isPassing(failure) && attempt < maxAttempts) throw failure;
    if (failure.code === 'internal') log.error('a background response failed', { response: run.id, error: String(error) });
    await store.finish(run, failed(failure), firstSequenceOf(run.run + 1), undefined);
  } finally {
    live.changed(run.id);
  }
}

function failed({ code, message }: CompletionError): ResponseEnd {
  return { status: 'failed', output: [], error: { code, message } };
}

/** Undefined when the response is not this run's any more. */
async function generate(deps: ResponseJobDeps, run: ResponseRun, signal: AbortSignal, log: Log): Promise<Generated | undefined> {
  const { completions, store, live } = deps;
  // Whatever ends the run ends the engine's work as well.
  const stop = new AbortController();
  const asker = askerOf(run, AbortSignal.any([signal, stop.signal]));
  const answer = await completions.open(asker, await outcomeCall(deps, run, asker));
  const encoder = answer.wire.encoder();
  const events = new LiveEvents({
    firstSequence: encoder.nextSequence,
    nextSequence: () => encoder.nextSequence,
    save: (batch) => store.append(run, batch),
    onSaveError: (error) =>
      log.warn('events of a background response were not saved', { response: run.id, error: String(error) }),
    onChange: () => live.changed(run.id),
  });
  live.open(run.id, events);
  try {
    (await completions.run(answer)).start(events);
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

/** The stored caller has what the request was allowed; a response without one needs none. */
function askerOf({ request, scope: { tenant } }: ResponseRun, signal: AbortSignal): Asker {
  const { timeoutMs, user, key, models, caller } = request as BackgroundRequest;
  return {
    caller: { ...ANONYMOUS, ...storedCaller(caller), tenant },
    modelUser: { kind: 'work', ...(models !== undefined && { limits: { models } }) },
    options: { tenant, user, key, signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
  };
}

async function outcomeCall(
  { keeper, knowledge: bases }: ResponseJobDeps,
  run: ResponseRun,
  { caller, options: { signal } }: Asker,
): Promise<AnswerCall<OutcomeWire>> {
  const { body } = run.request as BackgroundRequest;
  const earlier = run.previousId === undefined ? [] : await keeper.earlierItems(run.scope, run.previousId);
  const whole = { ...body, input: run.input };
  const { request, knowledge } = needsKnowledge(whole, earlier)
    ? await readWithFiles(bases, caller, whole, earlier, signal)
    : { request: readResponsesRequest(whole, earlier), knowledge: undefined };
  return {
    // Who asked was allowed this model when the response was created; a substitute for it is chosen only when it is gone.
    request: { ...request, model: modelOf(run) ?? request.model },
    knowledge,
    isStreamed: true,
    wire: (answer) => outcomeWire(run, answer, readFileSearch(whole)?.includesResults ?? false),
  };
}

interface OutcomeWire extends StreamWire {
  encoder(): OutcomeEncoder;
}

function outcomeWire(run: ResponseRun, { knowledge, filters }: ModelledAnswer, includesResults: boolean): OutcomeWire {
  const told = knowledge && filters && toldSearch({ context: knowledge, includesResults }, filters);
  const encoder = new OutcomeEncoder(run.head, firstSequenceOf(run.run), told);
  return { encoder: () => encoder };
}

/** The model that was chosen for the response. */
function modelOf({ head }: ResponseRun): string | undefined {
  return typeof head['model'] === 'string' ? head['model'] : undefined;
}

/** Writes all events of a background response but the last, whose outcome it keeps: that event is written from what is stored. */
class OutcomeEncoder extends ResponsesEncoder {
  /** Set when the last choice has ended or failed. */
  outcome: ResponseEnd | CompletionError | undefined;

  override done(_out: Frames, usage: JobUsage): void {
    this.outcome = this.end(usage);
  }

  override error(_out: Frames, error: HttpError): void {
    this.outcome = new DomainError(isKnownCode(error.code) ? error.code : 'internal', error.message);
  }
}
