/** All routes of the module. */
import type { Route } from '../../platform/http/route.ts';
import { conversationRoutes } from './routes/conversation-routes.ts';
import { messageRoutes } from './routes/message-routes.ts';
import { transferRoutes } from './routes/transfer-routes.ts';
import type { ConversationService } from './service.ts';

export function conversationModuleRoutes(service: ConversationService): Route[] {
  return [...conversationRoutes(service), ...messageRoutes(service), ...transferRoutes(service)];
}
