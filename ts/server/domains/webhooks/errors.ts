/** Refusals of the webhook routes. */
import { DomainError, type DomainErrorOptions } from '../../platform/errors/domain-error.ts';
import type { ErrorSpec } from '../../platform/http/errors.ts';

const specs = {
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.'],
  unsafe_address: [400, 'The address is not https, or lies inside a network that webhooks may not reach.'],
  forbidden: [403, 'Events of the whole node are for superadmins.'],
  webhook_not_found: [404, 'The tenant has no such webhook.'],
  delivery_not_found: [404, 'The webhook has no such delivery.'],
  too_many_webhooks: [409, 'The tenant has as many webhooks as it may have; delete some.'],
  webhook_disabled: [409, 'The webhook is disabled; enable it first.'],
} satisfies Record<string, [number, string]>;

export type WebhookErrorCode = keyof typeof specs;

/** Declarations for OpenAPI. */
export function errorSpecs(...codes: WebhookErrorCode[]): ErrorSpec[] {
  return codes.map((code) => ({ status: specs[code][0], code, meaning: specs[code][1] }));
}

export function webhookError(
  code: WebhookErrorCode,
  sentence: string,
  options: DomainErrorOptions = {},
): DomainError<WebhookErrorCode> {
  return new DomainError(code, sentence, options);
}

export function webhookNotFound(id: string): DomainError<WebhookErrorCode> {
  return webhookError('webhook_not_found', `There is no webhook ${id.slice(0, 64)}.`);
}
