/** Refusals of metering. Those of quotas are answered by the routes that run models, which declare them too. */
import { DomainError, type DomainErrorOptions } from '../../platform/errors/domain-error.ts';
import type { ErrorSpec } from '../../platform/http/errors.ts';

const specs = {
  rate_limit_exceeded: [429, 'A quota by the minute is used up; `exceeded` names it, and Retry-After says when to come back.'],
  quota_exceeded: [429, 'A quota by the month is used up; `exceeded` names it and says when it resets.'],
  storage_unavailable: [503, 'The database cannot be read or written now, so what is used cannot be recorded; retry.'],
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.'],
  tenant_not_found: [404, 'There is no such tenant.'],
  forbidden: [403, 'The role of the caller does not reach so far.'],
} satisfies Record<string, [number, string]>;

export type MeteringErrorCode = keyof typeof specs;

/** Declarations for OpenAPI. */
export function errorSpecs(...codes: MeteringErrorCode[]): ErrorSpec[] {
  return codes.map((code) => ({ status: specs[code][0], code, meaning: specs[code][1] }));
}

export function meteringError(code: MeteringErrorCode, sentence: string, options: DomainErrorOptions = {}): DomainError {
  return new DomainError(code, sentence, options);
}
