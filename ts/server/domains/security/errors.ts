/** Refusals of the security module, and of call sites that ask it. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const securityErrors = defineErrors('security', {
  tool_call_denied: [
    403,
    'Role enforcement is on and the caller’s role does not reach `tool` (`needed_role` is the least one), or the tenant’s policy or a person denied the call.',
    'Ask an administrator with that role, or for another policy.',
  ],
  tenant_not_found: [404, 'There is no such tenant.', 'List the tenants: `svc tenant list`.'],
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.', 'Correct that member.'],
});

/** What a route that calls `requireToolCall` declares. */
export const toolCallErrors = securityErrors.specs('tool_call_denied');

export const securityError = securityErrors.error;

export function toolCallDenied(tool: string, sentence: string) {
  return securityError('tool_call_denied', sentence, { extra: { tool } });
}
