/** All routes of the module. */
import type { Route } from '../../platform/http/route.ts';
import type { ArtifactService } from './artifacts/artifact-service.ts';
import { artifactRoutes } from './artifacts/routes.ts';
import type { PromptService } from './prompts/prompt-service.ts';
import { promptRoutes } from './prompts/routes.ts';
import { conversationRoutes, type EndStreams } from './routes/conversation-routes.ts';
import { folderRoutes } from './routes/folder-routes.ts';
import { messageRoutes } from './routes/message-routes.ts';
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

export function conversationModuleRoutes(services: ConversationServices, endStreams: EndStreams): Route[] {
  const { conversations, shares, artifacts, prompts } = services;
  return [
    ...conversationRoutes(conversations, endStreams),
    ...folderRoutes(conversations),
    ...messageRoutes(conversations),
    ...transferRoutes(conversations),
    ...shareRoutes(shares),
    ...artifactRoutes(artifacts),
    ...promptRoutes(prompts),
  ];
}
