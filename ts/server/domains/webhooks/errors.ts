/** Refusals of the webhook routes. */
import { type CodeOf, defineErrors } from '../../platform/errors/define-errors.ts';
import type { DomainError } from '../../platform/errors/domain-error.ts';

export const webhookErrors = defineErrors('webhooks', {
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.', 'Correct that member.'],
  unsafe_address: [
    400,
    'The address is not https, or lies inside a network that webhooks may not reach.',
    'Name an https address on the internet, or the host in webhooks.allowed_hosts.',
  ],
  forbidden: [403, 'Events of the whole node are for superadmins.', 'Ask a superadmin.'],
  webhook_not_found: [404, 'The tenant has no such webhook.', 'List the webhooks: `svc webhook list`.'],
  delivery_not_found: [404, 'The webhook has no such delivery.', 'List the deliveries: `svc webhook deliveries ID`.'],
  too_many_webhooks: [409, 'The tenant has as many webhooks as it may have.', 'Delete some.'],
  webhook_disabled: [409, 'The webhook is disabled.', 'Enable it first.'],
});

type WebhookErrorCode = CodeOf<typeof webhookErrors>;

export const webhookError = webhookErrors.error;

export function webhookNotFound(id: string): DomainError<WebhookErrorCode> {
  return webhookError('webhook_not_found', `There is no webhook ${id.slice(0, 64)}.`);
}
