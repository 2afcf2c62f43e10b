/**
 * The conversations module: what callers and models said to each other. Each caller has their own (`owner.ts`), searches them as they type,
 * exports, imports and erases them. Modules of higher tiers store answers through its service.
 */
import { defineModule, type Module } from '../../platform/module/module.ts';
import type { ArtifactService } from './artifacts/artifact-service.ts';
import type { Owner } from './owner.ts';
import type { PromptService } from './prompts/prompt-service.ts';
import type { ConversationService } from './service.ts';
import { conversationSettings } from './settings.ts';
import type { FilesEraser } from './store/erasure-store.ts';
import { conversationMigrations } from './store/migrations.ts';

export type { Conversation } from './conversation.ts';
export { conversationError, messageNotFound, storedAnswerErrors } from './errors.ts';
export { MAX_ARTIFACT_LENGTH, MAX_CONTENT_LENGTH, MAX_JSON_LENGTH, MAX_MESSAGES, MAX_MODEL_LENGTH } from './limits.ts';
export { type Owner, ownerOf } from './owner.ts';
export type { ConversationService, MessageInput } from './service.ts';

/** What modules of higher tiers have of conversations, and lose with them. */
interface Attachments {
  readonly files: FilesEraser;
  /** Ends the answers that are being made for one conversation, or all of the owner's. */
  endStreams(owner: Owner, id?: string): Promise<void>;
}

export interface ConversationsApi {
  readonly service: ConversationService;
  readonly artifacts: Pick<ArtifactService, 'create'>;
  readonly prompts: Pick<PromptService, 'list'>;
  /** Once, while the modules are made. */
  attach(attachments: Attachments): void;
}

const HOUR_MS = 3_600_000;

/** Files wait to be erased until whoever has them is there. */
const nothingAttached: Attachments = { files: { isConnected: false, erase: async () => {} }, endStreams: async () => {} };

export const conversations = defineModule({
  name: 'conversations',
  settings: conversationSettings,
  migrations: conversationMigrations,
  create: async ({ storage, settings, log }): Promise<Module<ConversationsApi>> => {
    const [{ ConversationService }, { createServices }, { conversationModuleRoutes }, { Sweep }, own, { conversationTools }] =
      await Promise.all([
        import('./service.ts'),
        import('./services.ts'),
        import('./routes.ts'),
        import('./sweep.ts'),
        import('./conversation-belongings.ts'),
        import('./tools.ts'),
      ]);
    let attached: Attachments = nothingAttached;
    const files: FilesEraser = {
      get isConnected() {
        return attached.files.isConnected;
      },
      erase: (keys) => attached.files.erase(keys),
    };
    const service = new ConversationService({
      storage,
      files,
      temporaryMs: settings['conversations.temporary_hours'] * HOUR_MS,
      tenantBytes: settings['conversations.tenant_bytes'],
    });
    const sweep = new Sweep(storage, log, files);
    const services = createServices(storage, service);
    return {
      api: {
        service,
        artifacts: services.artifacts,
        prompts: services.prompts,
        attach: (attachments) => (attached = attachments),
      },
      routes: conversationModuleRoutes(services, (owner, id) => attached.endStreams(owner, id)),
      tools: conversationTools(services),
      belongings: new own.ConversationBelongings(storage),
      start: async () => sweep.start(),
      stop: async () => {
        await sweep.stop();
        await service.close();
      },
      health: () => ({ state: {}, reasons: [] }),
      ready: () => undefined,
    };
  },
});
