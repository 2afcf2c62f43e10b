/** Folders of the caller's conversations. A conversation gets into one with PATCH. */
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { conversationErrors } from '../errors.ts';
import { ownerOf } from '../owner.ts';
import { FolderChanged, FolderList, RenameFolder } from '../schemas.ts';
import type { ConversationService } from '../service.ts';
import { PATH } from './conversation-routes.ts';

const { get, patch } = routes({ tag: 'Conversations', auth: 'viewer', scope: 'account:manage', errors: conversationErrors });

export function folderRoutes(service: ConversationService): Route[] {
  return [
    get(`${PATH}/folders`, {
      summary: 'Folders of your conversations, by name',
      description: 'Without archived and temporary conversations. A folder is there while a conversation is in it.',
      answer: FolderList,
      handle: async ({ caller }) => {
        const folders = await service.listFolders(ownerOf(caller));
        return { data: folders.map(({ folder, nConversations }) => ({ folder, conversations: nConversations })) };
      },
    }),
    patch(`${PATH}/folders`, {
      summary: 'Rename a folder, or take its conversations out of it',
      body: RenameFolder,
      answer: FolderChanged,
      errors: ['invalid_request'],
      handle: async ({ caller, body }) => ({ changed: await service.renameFolder(ownerOf(caller), body.folder, body.name) }),
    }),
  ];
}
