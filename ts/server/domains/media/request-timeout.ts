/** The header X-Request-Timeout, which is in seconds and may have decimals. */
import { wrong } from './form/form-fields.ts';

const MOST_SECONDS = 86_400;

/** Milliseconds; undefined: the header is absent. Throws invalid_request. */
export function requestTimeoutMs(headers: ReadonlyMap<string, string>): number | undefined {
  const text = headers.get('x-request-timeout') ?? '';
  if (text === '') return undefined;
  const seconds = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= MOST_SECONDS) return Math.ceil(seconds * 1000);
  throw wrong('X-Request-Timeout', `The header X-Request-Timeout must be seconds, above 0 and up to ${MOST_SECONDS}.`);
}

/** Aborts with the client, and after the time that it gives with a reason named TimeoutError. */
export function withTimeout(signal: AbortSignal, timeoutMs: number | undefined): AbortSignal {
  return timeoutMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
}
