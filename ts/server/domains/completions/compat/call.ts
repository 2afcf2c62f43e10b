/** What the routes of all APIs read of a request beside its body, and tell beside their answers. */

import type { RequestContext } from '../../../platform/http/route.ts';
import type { CallOptions, ResolvedModel } from '../../inference/index.ts';
import type { Asker } from '../answer/pending-answer.ts';
import { invalid } from '../errors.ts';

type Context = Pick<RequestContext, 'headers' | 'caller' | 'signal' | 'addHeader'>;

const maxTimeoutSeconds = 86_400;

/** Reads X-Request-Timeout: seconds, decimals allowed. */
export function callOptions(context: Context): CallOptions {
  const { headers, caller, signal } = context;
  const { tenant, subject: user, kind, keyId } = caller;
  const key = kind === 'key' ? keyId : undefined;
  const options = { tenant, user, key, signal, announce: (name: string, value: string) => context.addHeader(name, value) };
  const text = headers.get('x-request-timeout');
  if (text === undefined || text === '') return options;
  const seconds = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (!(seconds > 0 && seconds <= maxTimeoutSeconds)) {
    throw invalid('X-Request-Timeout', `The header X-Request-Timeout must be seconds, above 0 and up to ${maxTimeoutSeconds}.`);
  }
  return { ...options, timeoutMs: seconds * 1000 };
}

export function askerOf(context: Context & Pick<RequestContext, 'recheck'>): Asker {
  const { caller, headers } = context;
  return { caller, options: callOptions(context), headers, recheck: () => context.recheck() };
}

/** Tells which model answers, what is amiss with it, and whose tools run. */
export function answerHeaders(
  requested: string,
  { card, isSubstitute }: ResolvedModel,
  headers: ReadonlyMap<string, string> | undefined,
): Record<string, string> {
  return {
    'x-svc-edge-tools': headers?.get('x-svc-edge-tools') === '1' ? 'on' : 'passthrough',
    ...(card.capabilities.completion ? { 'x-svc-warning': `${headerText(card.id)} has no chat template` } : {}),
    ...(isSubstitute ? { 'x-svc-model-substituted': `${headerText(requested)} -> ${headerText(card.id)}` } : {}),
  };
}

/** Header values are visible ASCII; everything else is percent-encoded. */
function headerText(text: string): string {
  return encodeURI(text.slice(0, 200).toWellFormed());
}
