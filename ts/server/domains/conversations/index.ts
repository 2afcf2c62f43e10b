/**
 * The conversations module: what callers and models said to each other. Each caller has their own (`owner.ts`), searches them as they type,
 * exports, imports and erases them. Modules of higher tiers store answers through its service.
 */
import { defineModule } from '../../platform/module/module.ts';
import { conversationSettings } from './settings.ts';
import { conversationMigrations } from './store/migrations.ts';

export type { Conversation, Message, MessageRole } from './conversation.ts';
export { ConversationError } from './errors.ts';
export { type Owner, ownerOf } from './owner.ts';
export type { ConversationService } from './service.ts';

const HOUR_MS = 3_600_000;

export const conversations = defineModule({
  name: 'conversations',
  settings: conversationSettings,
  migrations: conversationMigrations,
  create: async ({ storage, settings, log }) => {
    const [{ ConversationService }, { conversationModuleRoutes }, { Sweep }] = await Promise.all([
      import('./service.ts'),
      import('./routes.ts'),
      import('./sweep.ts'),
    ]);
    const service = new ConversationService({ storage, temporaryMs: settings['conversations.temporary_hours'] * HOUR_MS });
    const sweep = new Sweep(storage, log);
    return {
      api: service,
      routes: conversationModuleRoutes(service),
      start: async () => sweep.start(),
      stop: () => sweep.stop(),
      health: () => ({ state: {}, reasons: [] }),
      ready: () => undefined,
    };
  },
});
