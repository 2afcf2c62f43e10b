/** The services behind the module's routes. */
import type { Storage } from '../../platform/storage/index.ts';
import { ArtifactService } from './artifacts/artifact-service.ts';
import { PromptService } from './prompts/prompt-service.ts';
import type { ConversationServices } from './routes.ts';
import type { ConversationService } from './service.ts';
import { ShareService } from './sharing/share-service.ts';

export function createServices(storage: Storage, conversations: ConversationService): ConversationServices {
  return {
    conversations,
    shares: new ShareService({ storage, conversations }),
    artifacts: new ArtifactService({ storage, space: conversations.space }),
    prompts: new PromptService({ storage }),
  };
}
