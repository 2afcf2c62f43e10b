/** What became of the deliveries of a webhook. */
import { json, type Route, route } from '../../../platform/http/route.ts';
import { errorSpecs } from '../errors.ts';
import * as schemas from '../schemas.ts';
import type { WebhookService } from '../service.ts';
import { PATH } from './webhook-routes.ts';

const tag = 'Webhooks';
const DEFAULT_LIMIT = 50;

export function deliveryRoutes(service: WebhookService): Route[] {
  return [
    route({
      method: 'GET',
      path: `${PATH}/{id}/deliveries`,
      auth: 'admin',
      maxBody: 0,
      tag,
      summary: 'Deliveries of a webhook, newest first',
      description: 'Ended ones are kept for `webhooks.keep_days`.',
      params: schemas.WebhookId,
      query: schemas.DeliveryPage,
      responses: { 200: schemas.DeliveryList },
      errors: errorSpecs('webhook_not_found'),
      handle: async ({ params, query, caller }) => {
        const { state, after, limit = DEFAULT_LIMIT } = query;
        const { rows, hasMore } = await service.deliveries({ webhookId: params.id, state, after, limit }, caller);
        const next = hasMore ? rows.at(-1)?.id : undefined;
        return json(200, { data: rows.map(schemas.deliveryBody), ...(next !== undefined && { next }) });
      },
    }),
    route({
      method: 'POST',
      path: `${PATH}/{id}/deliveries/{delivery}/replay`,
      auth: 'admin',
      maxBody: 0,
      tag,
      summary: 'Send a delivery again, under the same webhook-id',
      params: schemas.DeliveryId,
      responses: { 202: schemas.Delivery },
      errors: errorSpecs('webhook_not_found', 'delivery_not_found', 'webhook_disabled'),
      handle: async ({ params, caller }) =>
        json(202, schemas.deliveryBody(await service.replay(params.id, params.delivery, caller))),
    }),
  ];
}
