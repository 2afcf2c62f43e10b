/** Webhooks, for administrators of a tenant. */
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { webhookErrors } from '../errors.ts';
import { CATALOGUE } from '../event-catalogue.ts';
import * as schemas from '../schemas.ts';
import type { WebhookService } from '../service.ts';

export const PATH = '/api/v1/webhooks';
const MAX_BODY = 8192;
const { Webhook, WebhookId } = schemas;

const { get, post, patch, del } = routes({ tag: 'Webhooks', auth: 'admin', maxBody: MAX_BODY, errors: webhookErrors });

export function webhookRoutes(service: WebhookService): Route[] {
  return [...listAndCreate(service), ...changeAndDelete(service)];
}

function listAndCreate(service: WebhookService): Route[] {
  return [
    get(PATH, {
      summary: 'Webhooks of the tenant',
      answer: schemas.WebhookList,
      handle: async ({ caller }) => ({ data: (await service.list(caller)).map(schemas.webhookBody) }),
    }),
    post(PATH, {
      summary: 'Have events of the tenant posted to an address',
      description:
        'Deliveries are signed as Standard Webhooks (headers `webhook-id`, `webhook-timestamp`, `webhook-signature`; HMAC-SHA256 over `id.timestamp.body`) and come at least ' +
        'once, in any order; a repetition has the same `webhook-id`. Any 2xx ends a delivery; anything else, redirects too, is tried again with growing pauses. 410 disables the webhook.',
      body: schemas.NewWebhook,
      answer: schemas.WebhookCreated,
      status: 201,
      headers: { 'cache-control': 'no-store' },
      errors: ['invalid_request', 'unsafe_address', 'forbidden', 'too_many_webhooks'],
      handle: async ({ body, caller }) => {
        const row = await service.create(body, caller);
        return { ...schemas.webhookBody(row), secret: row.secret };
      },
    }),
    get(`${PATH}/events`, {
      summary: 'Events that webhooks can be told of, with the shape of what they carry',
      answer: schemas.EventList,
      handle: () => ({
        data: CATALOGUE.map(({ type, meaning, isOfNode }) => ({
          type: type.name,
          description: meaning,
          needs_superadmin: isOfNode,
          data_schema: type.schema,
        })),
      }),
    }),
  ];
}

function changeAndDelete(service: WebhookService): Route[] {
  return [
    get(`${PATH}/{id}`, {
      summary: 'One webhook',
      params: WebhookId,
      answer: Webhook,
      errors: ['webhook_not_found'],
      handle: async ({ params, caller }) => schemas.webhookBody(await service.get(params.id, caller)),
    }),
    patch(`${PATH}/{id}`, {
      summary: 'Change the events of a webhook, disable it, or enable it again',
      params: WebhookId,
      body: schemas.WebhookPatch,
      answer: Webhook,
      errors: ['forbidden', 'webhook_not_found'],
      handle: async ({ params, body, caller }) => schemas.webhookBody(await service.update(params.id, body, caller)),
    }),
    post(`${PATH}/{id}/secret`, {
      summary: 'Give a webhook a new secret',
      description:
        'Until `previous_valid_until` each delivery has a signature by either secret (`webhook-signature: v1,... v1,...`), so that a receiver can change over ' +
        'without losing one. With `overlap_seconds: 0` the old one is over at once; a secret before the old one is over in any case.',
      params: WebhookId,
      body: schemas.RotateSecret,
      bodyOptional: true,
      answer: schemas.RotatedSecret,
      headers: { 'cache-control': 'no-store' },
      errors: ['invalid_request', 'webhook_not_found'],
      handle: async ({ params, body, caller }) => {
        const overlap = body?.overlap_seconds ?? schemas.DEFAULT_OVERLAP_SECONDS;
        const row = await service.rotateSecret(params.id, overlap, caller);
        return schemas.rotatedBody(row);
      },
    }),
    del(`${PATH}/{id}`, {
      summary: 'Delete a webhook with its deliveries',
      params: WebhookId,
      errors: ['webhook_not_found'],
      handle: async ({ params, caller }) => {
        await service.remove(params.id, caller);
      },
    }),
  ];
}
