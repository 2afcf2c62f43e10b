/** Answers: what any API asks of a model goes through the same stages to it, and back through them to the client. */
import type { JobUsage } from '../../native/llama-shapes.ts';
import { hasRole } from '../../platform/http/principal.ts';
import { type EventsReply, json, type Reply, type RequestContext } from '../../platform/http/route.ts';
import type {
  CallOptions,
  CompletionRequest,
  InferenceService,
  ModelCard,
  ResolvedModel,
  RunningCompletion,
} from '../inference/index.ts';
import { type Answer, AnswerCollector } from './answer/answer-collector.ts';
import {
  type AnswerCall,
  type Asker,
  AUTO,
  type OpenAnswer,
  type PendingAnswer,
  type RunOptions,
  type Stage,
  type StreamWire,
} from './answer/pending-answer.ts';
import { StreamSession } from './answer/stream-session.ts';
import { ignoredTools, isForced, withoutTools } from './answer/usable-tools.ts';
import { completionError, invalid } from './errors.ts';
import { answerResumably, openResumable } from './resumable-streams/resumable-answer.ts';
import type { StreamRegistry } from './resumable-streams/stream-registry.ts';
import type { ToolSink } from './tools/tool-event.ts';
import { ToolLoop } from './tools/tool-loop.ts';

interface CompletionServiceOptions {
  readonly inference: InferenceService;
  readonly streams: StreamRegistry;
  /** On the way to the model in this order, on the way back in the reverse one. */
  readonly stages: readonly Stage[];
}

export class CompletionService {
  readonly #inference: InferenceService;
  readonly #streams: StreamRegistry;
  readonly #stages: readonly Stage[];

  constructor({ inference, streams, stages }: CompletionServiceOptions) {
    this.#inference = inference;
    this.#streams = streams;
    this.#stages = stages;
  }

  async answer(asker: Asker, call: AnswerCall): Promise<Reply> {
    return await this.deliver(await this.open(asker, call));
  }

  /** Goes through the stages and chooses the model; nothing runs yet. Throws what they refuse with. */
  async open<W extends StreamWire>(asker: Asker, asked: AnswerCall<W>): Promise<OpenAnswer<W>> {
    const isAuto = asked.request.model === AUTO || asked.knowledge?.isAuto === true;
    const call: AnswerCall<W> = isAuto ? { ...asked, auto: true } : asked;
    const pending: PendingAnswer = { asker, call, request: call.request };
    const stages = this.#stagesOf(call);
    for (const stage of stages) await stage.prepare(pending);
    // Tools of the node are asked for by name, and no model without them answers in their place.
    const { prompt } = pending.request.job;
    const hasTools = prompt.kind === 'chat' && prompt.toolsJson !== undefined;
    const mustCall = hasTools && (isForced(prompt) || (call.edgeTools !== undefined && pending.request.needsTools));
    const needs = { ability: 'chat', ...pending.request, mustCall } as const;
    const model = await this.#inference.resolve(needs, asker.modelUser ?? asker.caller);
    if (model.card.backend === undefined) requireSchemas(pending.request, model.card);
    const answer = Object.assign(pending, { model });
    if (hasTools) {
      const ignored = await ignoredTools(askedJob(answer), model.card, () => this.#inference.meter(model, asker.options));
      if (ignored !== undefined) answer.request = withoutTools(answer.request, ignored);
    }
    for (const stage of stages) await stage.fit?.(answer);
    return Object.assign(answer, { wire: call.wire(answer) });
  }

  /** Runs the model. Where an answer to be resumed cannot be kept for readers to come, it ends with its client like others. */
  async deliver(answer: OpenAnswer): Promise<Reply> {
    const { call, wire, model, request } = answer;
    const headers = { ...answerHeaders(request, model, call.edgeTools !== undefined), ...wire.headers };
    if (!call.isStreamed) return json(200, await wire.body(await this.#gather(answer)), headers);
    const stream = call.conversation?.isResumable === true ? openResumable(this.#streams, answer, call.conversation) : undefined;
    if (stream !== undefined)
      return await answerResumably(this.#streams, stream, answer, headers, (options) => this.run(answer, options));
    return await this.run(answer, { headers, onLeave: () => answer.recording?.storePart('client_closed') });
  }

  /** Resolves when the stream opens; failures before that are thrown as plain errors. */
  async run(answer: OpenAnswer<StreamWire>, options: RunOptions = {}): Promise<EventsReply> {
    const { model, asker, wire } = answer;
    const { signal = asker.options.signal, headers = {}, onLeave } = options;
    const encoder = this.#stagesOf(answer.call).reduce((inner, stage) => stage.wrap(inner, answer), wire.encoder());
    const { recording } = answer;
    const beforeDone = recording ? (usage: JobUsage) => recording.store(usage) : wire.beforeDone;
    // The events of a stream that can be resumed are numbered, and a comment is none.
    const isElsewhere = model.card.backend !== undefined && options.signal === undefined;
    const session = new StreamSession(encoder, { beforeDone, onLeave, isElsewhere });
    session.bind(await this.#complete(answer, session, { ...callOptionsOf(answer), signal }), headers, signal);
    return await session.reply;
  }

  #stagesOf(call: PendingAnswer['call']): Stage[] {
    return this.#stages.filter(({ members }) => members === undefined || members.some((name) => call[name] !== undefined));
  }

  /** Resolves when the work is queued, or its first round. */
  async #complete(answer: OpenAnswer<StreamWire>, sink: ToolSink, options: CallOptions): Promise<RunningCompletion> {
    const { model, request, tools } = answer;
    if (tools === undefined || (tools.offered.size === 0 && tools.approved.length === 0))
      return await this.#inference.complete(model, request, sink, options);
    return await new ToolLoop(this.#inference, answer, tools, sink, options).start();
  }

  async #gather(answer: OpenAnswer): Promise<Answer> {
    const { request, asker, call } = answer;
    const collector = new AnswerCollector(request.job.n ?? 1);
    collector.bind(await this.#complete(answer, collector, callOptionsOf(answer)), asker.options.signal);
    let whole = await collector.answer;
    for (const stage of this.#stagesOf(call).toReversed()) whole = await stage.finish(whole, answer);
    return whole;
  }
}

/** Messages that wait for passages are not in the prompt yet. */
function askedJob({ request: { job }, asked }: PendingAnswer): CompletionRequest['job'] {
  if (asked === undefined || job.prompt.kind !== 'chat') return job;
  return { ...job, prompt: { ...job.prompt, messagesJson: JSON.stringify(asked) } };
}

function callOptionsOf({ asker, call }: OpenAnswer<StreamWire>): CallOptions {
  return call.conversation === undefined ? asker.options : { ...asker.options, conversation: call.conversation.id };
}

/** The members of a request that are read beside its body. */
type Context = Pick<RequestContext, 'headers' | 'caller' | 'signal' | 'addHeader'>;

const maxTimeoutSeconds = 86_400;

/** Reads X-Request-Timeout, which is in seconds and may have decimals. */
export function callOptions(context: Context): CallOptions {
  const { headers, caller, signal } = context;
  const { tenant, subject: user, kind, keyId } = caller;
  const key = kind === 'key' ? keyId : undefined;
  const announce = (name: string, value: string) => context.addHeader(name, value);
  const options = { tenant, user, key, signal, announce, seesBackends: hasRole(caller, 'admin') };
  const text = headers.get('x-request-timeout');
  if (text === undefined || text === '') return options;
  const seconds = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (!(seconds > 0 && seconds <= maxTimeoutSeconds)) {
    throw invalid('X-Request-Timeout', `The header X-Request-Timeout must be seconds, above 0 and up to ${maxTimeoutSeconds}.`);
  }
  return { ...options, timeoutMs: seconds * 1000 };
}

export function askerOf(context: Context & Pick<RequestContext, 'recheck' | 'remoteAddress' | 'requestId'>): Asker {
  const { caller, headers, remoteAddress, requestId } = context;
  const source = { caller, remoteAddress, requestId };
  return { caller, options: callOptions(context), headers, source, recheck: () => context.recheck() };
}

/** The client lets the node run its own tools. */
export function wantsEdgeTools({ headers }: Pick<Asker, 'headers'>): boolean {
  return headers?.get('x-svc-edge-tools') === '1';
}

/** The headers that say which model answers, what is amiss with it, whose tools run, and what of the tools and schemas is left out. */
export function answerHeaders(
  {
    model: requested,
    schemaIgnored,
    byNotation,
    toolsIgnored,
  }: Pick<CompletionRequest, 'model' | 'schemaIgnored' | 'byNotation' | 'toolsIgnored'>,
  { card, isSubstitute }: ResolvedModel,
  runsTools: boolean,
): Record<string, string> {
  const ofNotation = card.callNotation && byNotation?.[card.callNotation]?.schemaIgnored;
  const ignored = card.state === 'remote' ? '' : (ofNotation ?? schemaIgnored ?? '');
  return {
    'x-svc-edge-tools': runsTools ? 'on' : 'passthrough',
    ...(card.capabilities.completion ? { 'x-svc-warning': `${headerText(card.id)} has no chat template` } : {}),
    ...(ignored !== '' && { 'x-svc-schema-ignored': ignored }),
    ...(toolsIgnored !== undefined && { 'x-svc-tools-ignored': toolsIgnored }),
    ...(isSubstitute ? { 'x-svc-model-substituted': `${headerText(requested)} -> ${headerText(card.id)}` } : {}),
  };
}

/** Header values are visible ASCII; everything else is percent-encoded. */
function headerText(text: string): string {
  return encodeURI(text.slice(0, 200).toWellFormed());
}

/** Throws the refusal of a request whose model this node runs: of its schemas, or of strict tools in the notation in which the model calls. */
export function requireSchemas({ schemaRefusal, byNotation }: CompletionRequest, { callNotation }: ModelCard): void {
  const refusal = schemaRefusal ?? (callNotation && byNotation?.[callNotation]?.refusal);
  if (refusal === undefined) return;
  const { code, sentence, param, extra } = refusal;
  throw completionError(code as Parameters<typeof completionError>[0], sentence, {
    ...(param !== undefined && { param }),
    extra,
  });
}
