/** Wires the webhooks module. */
import type { BackoffRange } from '../../platform/backoff.ts';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { AddressPolicy, type Resolver } from '../../platform/network/address-policy.ts';
import { allowedHostsOf } from '../../platform/network/allowed-host.ts';
import { HttpClient } from '../../platform/network/http-client.ts';
import { Repeater } from '../../platform/repeater.ts';
import { identity } from '../identity/index.ts';
import { webhookSubscriber } from './delivery/fan-out.ts';
import { Sender } from './delivery/sender.ts';
import { deliveryRoutes } from './routes/delivery-routes.ts';
import { webhookRoutes } from './routes/webhook-routes.ts';
import { WebhookService } from './service.ts';
import type { webhookSettings } from './settings.ts';
import { type ClaimedDelivery, DeliveryStore } from './store/delivery-store.ts';
import type { WebhookTables } from './store/tables.ts';
import { WebhookStore } from './store/webhook-store.ts';

/** What tests put in place of the real thing. */
export interface WebhookOverrides {
  resolve?: Resolver;
  now?: () => number;
  pollMs?: number;
  backoff?: BackoffRange;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const BACKOFF: BackoffRange = { first: 5_000, longest: 4 * HOUR_MS };

export function createWebhooks(context: ModuleContext<typeof webhookSettings>, overrides: WebhookOverrides): Module<undefined> {
  const { settings, log, node, events } = context;
  const { recordAct } = context.use(identity);
  const storage = context.storage.access<WebhookTables>();
  const now = overrides.now ?? Date.now;
  const webhooks = new WebhookStore(storage);
  const deliveries = new DeliveryStore(storage);
  const policy = new AddressPolicy({
    trusted: [],
    allowed: allowedHostsOf('webhooks.allowed_hosts', settings['webhooks.allowed_hosts'], 'hooks.lan:8443 or http://10.0.0.5'),
    resolve: overrides.resolve,
  });
  const sender = new Sender({
    store: deliveries,
    client: new HttpClient({ policy }),
    log,
    now,
    nodeId: () => node.id,
    pollMs: overrides.pollMs ?? 1_000,
    attempts: context.metrics.counter('svc_webhook_attempts_total', 'Attempts to deliver to webhooks, by what came of them.', [
      'outcome',
    ]),
    userAgent: `svc/${node.version} (webhooks)`,
    timeoutMs: settings['webhooks.timeout_seconds'] * 1000,
    rules: {
      backoff: overrides.backoff ?? BACKOFF,
      giveUpAfterMs: settings['webhooks.retry_hours'] * HOUR_MS,
      disableAfterMs: settings['webhooks.disable_after_days'] * DAY_MS,
    },
    onDisabled: (delivery, reason) => {
      log.warn('a webhook was disabled', { webhook: delivery.webhook_id, tenant: delivery.tenant, reason });
      return recordAct(disabledEntry(delivery, reason, now()));
    },
  });
  const wake = (): void => sender.wake();
  events.subscribeDurably(webhookSubscriber({ webhooks, deliveries, now, onAdded: wake }));
  const service = new WebhookService({ webhooks, deliveries, policy, now, onDue: wake });
  const sweep = new Repeater({
    intervalMs: HOUR_MS,
    run: () => deliveries.removeEndedBefore(now() - settings['webhooks.keep_days'] * DAY_MS),
    onError: (error) => log.warn('old deliveries could not be removed; it is tried again later', { error: String(error) }),
  });
  return {
    api: undefined,
    routes: [...webhookRoutes(service), ...deliveryRoutes(service)],
    start: async () => {
      await sender.start();
      sweep.start();
    },
    stop: async () => {
      await Promise.all([sender.stop(), sweep.stop()]);
    },
    health: () => ({ state: {}, reasons: [] }),
    ready: () => undefined,
  };
}

function disabledEntry({ tenant, webhook_id }: ClaimedDelivery, reason: string, at: number) {
  const shared = { at, tenant, actor: 'node', remoteAddress: '', requestId: '' };
  return { ...shared, action: 'webhook.disable', target: webhook_id, outcome: 'done' as const, detail: { reason } };
}
