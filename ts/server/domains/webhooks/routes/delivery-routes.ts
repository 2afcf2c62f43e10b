/** What became of the deliveries of a webhook. */
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { webhookErrors } from '../errors.ts';
import * as schemas from '../schemas.ts';
import type { WebhookService } from '../service.ts';
import { PATH } from './webhook-routes.ts';

const DEFAULT_LIMIT = 50;

const { get, post } = routes({ tag: 'Webhooks', auth: 'admin', errors: webhookErrors });

export function deliveryRoutes(service: WebhookService): Route[] {
  return [
    get(`${PATH}/{id}/deliveries`, {
      summary: 'Deliveries of a webhook, newest first',
      description: 'Ended ones are kept for `webhooks.keep_days`.',
      params: schemas.WebhookId,
      query: schemas.DeliveryPage,
      answer: schemas.DeliveryList,
      errors: ['webhook_not_found'],
      handle: async ({ params, query, caller }) => {
        const { state, after, limit = DEFAULT_LIMIT } = query;
        const { rows, hasMore } = await service.deliveries({ webhookId: params.id, state, after, limit }, caller);
        const next = hasMore ? rows.at(-1)?.id : undefined;
        return { data: rows.map(schemas.deliveryBody), ...(next !== undefined && { next }) };
      },
    }),
    post(`${PATH}/{id}/deliveries/{delivery}/replay`, {
      summary: 'Send a delivery again, under the same webhook-id',
      params: schemas.DeliveryId,
      answer: schemas.Delivery,
      status: 202,
      errors: ['webhook_not_found', 'delivery_not_found', 'webhook_disabled'],
      handle: async ({ params, caller }) => schemas.deliveryBody(await service.replay(params.id, params.delivery, caller)),
    }),
  ];
}
