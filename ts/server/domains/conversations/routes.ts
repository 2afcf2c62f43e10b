/** All routes of the module. */
import type { Route } from '../../platform/http/route.ts';
import type { StreamRegistry } from '../inference/index.ts';
import type { ArtifactService } from './artifacts/artifact-service.ts';
import { artifactRoutes } from './artifacts/routes.ts';
import type { PromptService } from './prompts/prompt-service.ts';
import { promptRoutes } from './prompts/routes.ts';
import { conversationRoutes } from './routes/conversation-routes.ts';
import { folderRoutes } from './routes/folder-routes.ts';
import { messageRoutes } from './routes/message-routes.ts';
import { streamRoutes } from './routes/stream-routes.ts';
import { transferRoutes } from './routes/transfer-routes.ts';
import type { ConversationService } from './service.ts';
import { shareRoutes } from './sharing/routes.ts';
import type { ShareService } from './sharing/share-service.ts';

export interface ConversationServices {
  conversations: ConversationService;
  shares: ShareService;
  artifacts: ArtifactService;
  prompts: PromptService;
}

export function conversationModuleRoutes(services: ConversationServices, streams: StreamRegistry): Route[] {
  const { conversations, shares, artifacts, prompts } = services;
  return [
    ...conversationRoutes(conversations, streams),
    ...folderRoutes(conversations),
    ...messageRoutes(conversations),
    ...streamRoutes(streams),
    ...transferRoutes(conversations),
    ...shareRoutes(shares),
    ...artifactRoutes(artifacts),
    ...promptRoutes(prompts),
  ];
}
