/** Refusals of the security module, and of call sites that ask it. */
import { DomainError, type DomainErrorOptions } from '../../platform/errors/domain-error.ts';
import type { ErrorSpec } from '../../platform/http/errors.ts';

const specs = {
  tool_call_denied: [403, 'Role enforcement is on and the caller’s role does not reach `tool`; `needed_role` is the least one.'],
  tenant_not_found: [404, 'There is no such tenant.'],
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.'],
} satisfies Record<string, [number, string]>;

export type SecurityErrorCode = keyof typeof specs;

/** Declarations for OpenAPI. */
export function errorSpecs(...codes: SecurityErrorCode[]): ErrorSpec[] {
  return codes.map((code) => ({ status: specs[code][0], code, meaning: specs[code][1] }));
}

/** What a route that calls `requireToolCall` declares. */
export const toolCallErrors: readonly ErrorSpec[] = errorSpecs('tool_call_denied');

export function securityError(code: SecurityErrorCode, sentence: string, options: DomainErrorOptions = {}): DomainError {
  return new DomainError(code, sentence, options);
}
