/** Webhooks, for administrators of a tenant. */
import Type from 'typebox';
import { type BytesReply, json, type Route, route } from '../../../platform/http/route.ts';
import { errorSpecs } from '../errors.ts';
import { CATALOGUE } from '../event-catalogue.ts';
import * as schemas from '../schemas.ts';
import type { WebhookService } from '../service.ts';

export const PATH = '/api/v1/webhooks';
const tag = 'Webhooks';
const MAX_BODY = 8192;
const NO_CONTENT: BytesReply = { kind: 'bytes', status: 204, headers: {}, body: '' };
const { Webhook, WebhookId } = schemas;

export function webhookRoutes(service: WebhookService): Route[] {
  return [...listAndCreate(service), ...changeAndDelete(service)];
}

function listAndCreate(service: WebhookService): Route[] {
  return [
    route({
      method: 'GET',
      path: PATH,
      auth: 'admin',
      maxBody: 0,
      tag,
      summary: 'Webhooks of the tenant',
      responses: { 200: schemas.WebhookList },
      handle: async ({ caller }) => json(200, { data: (await service.list(caller)).map(schemas.webhookBody) }),
    }),
    route({
      method: 'POST',
      path: PATH,
      auth: 'admin',
      maxBody: MAX_BODY,
      tag,
      summary: 'Have events of the tenant posted to an address',
      description:
        'Deliveries are signed as Standard Webhooks (headers `webhook-id`, `webhook-timestamp`, `webhook-signature`; HMAC-SHA256 over `id.timestamp.body`) and come at least ' +
        'once, in any order; a repetition has the same `webhook-id`. Any 2xx ends a delivery; anything else, redirects too, is tried again with growing pauses. 410 disables the webhook.',
      body: schemas.NewWebhook,
      responses: { 201: schemas.WebhookCreated },
      errors: errorSpecs('invalid_request', 'unsafe_address', 'forbidden', 'too_many_webhooks'),
      handle: async ({ body, caller }) => {
        const row = await service.create(body, caller);
        return json(201, { ...schemas.webhookBody(row), secret: row.secret }, { 'cache-control': 'no-store' });
      },
    }),
    route({
      method: 'GET',
      path: `${PATH}/events`,
      auth: 'admin',
      maxBody: 0,
      tag,
      summary: 'Events that webhooks can be told of, with the shape of what they carry',
      responses: { 200: schemas.EventList },
      handle: () =>
        json(200, {
          data: CATALOGUE.map(({ type, meaning, isOfNode }) => ({
            ...{ type: type.name, description: meaning, needs_superadmin: isOfNode, data_schema: type.schema },
          })),
        }),
    }),
  ];
}

function changeAndDelete(service: WebhookService): Route[] {
  return [
    route({
      method: 'GET',
      path: `${PATH}/{id}`,
      auth: 'admin',
      maxBody: 0,
      tag,
      summary: 'One webhook',
      params: WebhookId,
      responses: { 200: Webhook },
      errors: errorSpecs('webhook_not_found'),
      handle: async ({ params, caller }) => json(200, schemas.webhookBody(await service.get(params.id, caller))),
    }),
    route({
      method: 'PATCH',
      path: `${PATH}/{id}`,
      auth: 'admin',
      maxBody: MAX_BODY,
      tag,
      summary: 'Change the events of a webhook, disable it, or enable it again',
      params: WebhookId,
      body: schemas.WebhookPatch,
      responses: { 200: Webhook },
      errors: errorSpecs('forbidden', 'webhook_not_found'),
      handle: async ({ params, body, caller }) => json(200, schemas.webhookBody(await service.update(params.id, body, caller))),
    }),
    route({
      method: 'POST',
      path: `${PATH}/{id}/secret`,
      auth: 'admin',
      maxBody: MAX_BODY,
      tag,
      summary: 'Give a webhook a new secret',
      description:
        'Until `previous_valid_until` each delivery has a signature by either secret (`webhook-signature: v1,... v1,...`), so that a receiver can change over ' +
        'without losing one. With `overlap_seconds: 0` the old one is over at once; a secret before the old one is over in any case.',
      params: WebhookId,
      body: schemas.RotateSecret,
      bodyOptional: true,
      responses: { 200: schemas.RotatedSecret },
      errors: errorSpecs('invalid_request', 'webhook_not_found'),
      handle: async ({ params, body, caller }) => {
        const overlap = body?.overlap_seconds ?? schemas.DEFAULT_OVERLAP_SECONDS;
        const row = await service.rotateSecret(params.id, overlap, caller);
        return json(200, schemas.rotatedBody(row), { 'cache-control': 'no-store' });
      },
    }),
    route({
      method: 'DELETE',
      path: `${PATH}/{id}`,
      auth: 'admin',
      maxBody: 0,
      tag,
      summary: 'Delete a webhook with its deliveries',
      params: WebhookId,
      responses: { 204: Type.Null() },
      errors: errorSpecs('webhook_not_found'),
      handle: async ({ params, caller }) => {
        await service.remove(params.id, caller);
        return NO_CONTENT;
      },
    }),
  ];
}
