/** A service’s refusal as an answer. */
import type { DomainError } from '../errors/domain-error.ts';
import { type ErrorSpec, HttpError } from './errors.ts';

/**
 * Gives an error the status that the route declares for its code. Returns undefined when it declares no such code, which is a defect of the route.
 */
export function declaredError(error: DomainError, specs: readonly ErrorSpec[] = []): HttpError | undefined {
  const spec = specs.find(({ code }) => code === error.code);
  return spec && httpError(error, spec.status);
}

export function httpError({ code, message, param, retryAfterMs, extra, cause }: DomainError, status: number): HttpError {
  const headers = retryAfterMs === undefined ? {} : retryHeaders(retryAfterMs);
  return new HttpError(status, code, message, { headers, extra, cause, ...(param === undefined ? {} : { param }) });
}

/** Retry-After holds whole seconds (RFC 9110 section 10.2.3); SDKs prefer retry-after-ms. */
function retryHeaders(ms: number): Record<string, string> {
  const whole = Math.max(1, Math.ceil(ms));
  return { 'retry-after': String(Math.ceil(whole / 1000)), 'retry-after-ms': String(whole) };
}
