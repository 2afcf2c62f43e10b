/** From an event of the outbox to a delivery for each webhook that asked for it. */
import type { DurableSubscriber, RecordedEvent } from '../../../platform/events/index.ts';
import { systemScope, tenantScope } from '../../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../../platform/time-ordered-id.ts';
import { identityEvents } from '../../identity/index.ts';
import { CATALOGUE } from '../event-catalogue.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { DeliveryRow, WebhookRow } from '../store/tables.ts';
import type { WebhookStore } from '../store/webhook-store.ts';

export interface FanOutDeps {
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
  now(): number;
  /** There are deliveries to send. */
  onAdded(): void;
}

/** What happens twice after a crash has one effect: an event has one delivery for each webhook, with one id. */
export function webhookSubscriber({ webhooks, deliveries, now, onAdded }: FanOutDeps): DurableSubscriber {
  return {
    name: 'webhooks',
    types: CATALOGUE.map(({ type }) => type),
    deliver: async (event) => {
      if (identityEvents.tenantDeleted.is(event)) await webhooks.removeTenant(event.payload.id);
      const candidates = await webhooks.listToTell(event.tenant === undefined ? systemScope() : tenantScope(event.tenant));
      const told = candidates.filter(({ events }) => (JSON.parse(events) as string[]).includes(event.type));
      if (told.length === 0) return;
      await deliveries.add(
        systemScope(),
        told.map((webhook) => deliveryOf(webhook, event, now())),
      );
      onAdded();
    },
  };
}

/** `tenant` is null for what concerns the whole node. */
export function bodyOf({
  type,
  tenant,
  payload,
  recordedAt,
}: Pick<RecordedEvent, 'type' | 'tenant' | 'payload' | 'recordedAt'>): string {
  return JSON.stringify({ type, timestamp: new Date(recordedAt).toISOString(), tenant: tenant ?? null, data: payload });
}

function deliveryOf({ tenant, id }: WebhookRow, event: RecordedEvent, now: number): DeliveryRow {
  return {
    tenant,
    id: `msg_${newTimeOrderedId(now)}`,
    webhook_id: id,
    event_seq: event.seq,
    type: event.type,
    body: bodyOf(event),
    state: 'pending',
    attempts: 0,
    created_at: now,
    tried_since: now,
    next_attempt_at: now,
    holder: null,
    lease_until: 0,
    ended_at: null,
    last_status: null,
    last_error: null,
  };
}
