/** What every completion route does around its own wire shape: resolve, announce, run, stream or gather. */

import type { Reply, RequestContext } from '../../../platform/http/route.ts';
import type { CallOptions, CompletionRequest, InferenceService, ResolvedModel } from '../../inference/index.ts';
import { meteredCaller } from '../../metering/index.ts';
import { type Answer, AnswerCollector } from '../answer/answer-collector.ts';
import type { StreamEncoder } from '../answer/stream-encoder.ts';
import { StreamSession, type StreamSessionOptions } from '../answer/stream-session.ts';
import { invalid } from '../errors.ts';

type Context = Pick<RequestContext, 'headers' | 'caller' | 'signal' | 'addHeader'>;

const maxTimeoutSeconds = 86_400;

/** Reads X-Request-Timeout: seconds, decimals allowed. */
export function callOptions(context: Context): CallOptions {
  const { headers, caller, signal } = context;
  const options = { ...meteredCaller(caller), signal, announce: (name: string, value: string) => context.addHeader(name, value) };
  const text = headers.get('x-request-timeout');
  if (text === undefined || text === '') return options;
  const seconds = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (!(seconds > 0 && seconds <= maxTimeoutSeconds)) {
    throw invalid('X-Request-Timeout', `The header X-Request-Timeout must be seconds, above 0 and up to ${maxTimeoutSeconds}.`);
  }
  return { ...options, timeoutMs: seconds * 1000 };
}

/** Tells which model answers and whose tools run. */
export function answerHeaders(
  requested: string,
  { card, isSubstitute }: ResolvedModel,
  headers: ReadonlyMap<string, string>,
): Record<string, string> {
  return {
    'x-svc-edge-tools': headers.get('x-svc-edge-tools') === '1' ? 'on' : 'passthrough',
    ...(isSubstitute ? { 'x-svc-model-substituted': `${headerText(requested)} -> ${headerText(card.id)}` } : {}),
  };
}

/** Header values are visible ASCII; everything else is percent-encoded. */
function headerText(text: string): string {
  return encodeURI(text.slice(0, 200).toWellFormed());
}

/** Opens a stream for a completion. Failures before it opens are thrown as plain errors. */
export async function streamAnswer(
  service: InferenceService,
  model: ResolvedModel,
  request: CompletionRequest,
  encoder: StreamEncoder,
  options: CallOptions,
  headers: Record<string, string>,
  hooks: StreamSessionOptions = {},
): Promise<Reply> {
  const session = new StreamSession(encoder, hooks);
  const job = await service.complete(model, request, session, options);
  session.bind(job, headers, options.signal);
  return session.reply;
}

export async function gatherAnswer(
  service: InferenceService,
  model: ResolvedModel,
  request: CompletionRequest,
  options: CallOptions,
): Promise<Answer> {
  const collector = new AnswerCollector(request.job.n ?? 1);
  const job = await service.complete(model, request, collector, options);
  collector.bind(job, options.signal);
  return collector.answer;
}
