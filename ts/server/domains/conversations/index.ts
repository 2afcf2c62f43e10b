/**
 * The conversations module: what callers and models said to each other. Each caller has their own (`owner.ts`), searches them as they type,
 * exports, imports and erases them. Modules of higher tiers store answers through its service.
 */
import { defineModule } from '../../platform/module/module.ts';
import { inference } from '../inference/index.ts';
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
  create: async ({ storage, settings, log, use }) => {
    const [{ ConversationService }, { createServices }, { ChatStorage }, { conversationModuleRoutes }, { Sweep }, own] =
      await Promise.all([
        import('./service.ts'),
        import('./services.ts'),
        import('./chat-storage.ts'),
        import('./routes.ts'),
        import('./sweep.ts'),
        import('./conversation-belongings.ts'),
      ]);
    const { conversations: chats, knowledge, streams } = use(inference);
    const files = {
      get isConnected() {
        return knowledge.isConnected;
      },
      erase: (keys: readonly string[]) => knowledge.port.eraseFiles(keys),
    };
    const service = new ConversationService({
      storage,
      files,
      temporaryMs: settings['conversations.temporary_hours'] * HOUR_MS,
      tenantBytes: settings['conversations.tenant_bytes'],
    });
    const sweep = new Sweep(storage, log, files);
    return {
      api: service,
      routes: conversationModuleRoutes(createServices(storage, service), streams),
      corsHeaders: { accepted: ['last-event-id'], exposed: [] },
      belongings: new own.ConversationBelongings(storage),
      start: async () => {
        sweep.start();
        chats.connect(new ChatStorage(service, log));
      },
      stop: async () => {
        chats.connect(undefined);
        await sweep.stop();
        await service.close();
      },
      health: () => ({ state: {}, reasons: [] }),
      ready: () => undefined,
    };
  },
});
