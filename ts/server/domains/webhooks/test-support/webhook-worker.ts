/**
 * A node that is made to be killed: records events and delivers them to a webhook, and prints a JSON line for each that is recorded.
 * Usage: node webhook-worker.ts DATABASE RECEIVER LIFE. When its stdin ends, it waits until all is delivered, and ends.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Events, eventsMigrations } from '../../../platform/events/index.ts';
import { ANONYMOUS } from '../../../platform/http/principal.ts';
import { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { scriptedContext, silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import { createStorage, tenantScope } from '../../../platform/storage/index.ts';
import { identityEvents } from '../../identity/index.ts';
import { newWebhookSecret } from '../delivery/signature.ts';
import { webhookSettings } from '../settings.ts';
import { webhookMigrations } from '../store/migrations.ts';
import type { WebhookTables } from '../store/tables.ts';
import { WebhookStore } from '../store/webhook-store.ts';
import { createWebhooks } from '../webhooks-module.ts';

export interface WorkerLine {
  recorded: string;
}

/** Id of the key whose event is the last of all. */
const END = 'the end';
const [, , url = '', receiver = '', life = ''] = process.argv;
const scope = tenantScope(ANONYMOUS.tenant);
const storage = createStorage({ url, modules: [eventsMigrations, { module: 'webhooks', migrations: webhookMigrations }] });
await storage.open();
const events = new Events({ storage, log: silentLog, metrics: new MetricsRegistry(), nodeId: () => 'node-1', pollMs: 10 });
const settings = { 'webhooks.allowed_hosts': new URL(receiver).origin };
const context = scriptedContext({ spec: webhookSettings, settings, storage, events });
const use = () => ({ recordAct: async () => {} }) as never;
const module = createWebhooks({ ...context, use }, { pollMs: 10, backoff: { first: 20, longest: 40 } });
const access = storage.access<WebhookTables>();
const row = {
  tenant: scope.tenant,
  id: 'whk_1',
  url: receiver,
  events: JSON.stringify([identityEvents.keyCreated.name]),
  description: '',
  secret: newWebhookSecret(),
  previous_secret: null,
  previous_secret_until: null,
  of_node: 0,
  created_at: 0,
  disabled_at: null,
  disabled_reason: null,
  failing_since: null,
};
await new WebhookStore(access).add(scope, row, 1);
await module.start();
await events.start();

let isAskedToEnd = false;
process.stdin.resume();
process.stdin.once('end', () => {
  isAskedToEnd = true;
});
const record = (id: string) => events.send(scope, identityEvents.keyCreated, { id, actor: 'user:ann', detail: {} });
for (let i = 0; !isAskedToEnd; i++) {
  const id = `${life}-${i}`;
  await record(id);
  process.stdout.write(`${JSON.stringify({ recorded: id })}\n`);
  await wait(2);
}
await record(END);
const isDelivered = async (): Promise<boolean> => {
  const rows = await access.read(scope, (db) =>
    db
      .selectFrom('webhook_deliveries')
      .select('state')
      .where((where) => where.or([where('state', '=', 'pending'), where('body', 'like', `%"${END}"%`)]))
      .execute(),
  );
  return rows.length > 0 && rows.every(({ state }) => state !== 'pending');
};
// Events leave the outbox in their order: when the last one is a delivery, all are.
while (!(await isDelivered())) await wait(20);
await module.stop();
await events.stop();
await storage.close();
