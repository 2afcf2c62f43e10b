/** The webhooks module: what happens on the node, posted to addresses that tenants name, signed, and tried again until it arrives. */
import { defineModule, type ModuleDefinition } from '../../platform/module/module.ts';
import { webhookSettings } from './settings.ts';
import { webhookMigrations } from './store/migrations.ts';
import type { WebhookOverrides } from './webhooks-module.ts';

/** Tests put other times and names in place of the real ones. */
function defineWebhooks(overrides: WebhookOverrides = {}): ModuleDefinition<typeof webhookSettings, undefined> {
  return defineModule({
    name: 'webhooks',
    settings: webhookSettings,
    migrations: webhookMigrations,
    // Imported here, so that a program that only reads settings does not load the whole module.
    create: async (context) => (await import('./webhooks-module.ts')).createWebhooks(context, overrides),
  });
}

export const webhooks = defineWebhooks();
