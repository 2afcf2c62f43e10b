/** Folders of the caller's conversations. A conversation gets into one with PATCH. */
import { json, type Route, route } from '../../../platform/http/route.ts';
import { errorSpecs, refusing } from '../errors.ts';
import { ownerOf } from '../owner.ts';
import { FolderChanged, FolderList, RenameFolder } from '../schemas.ts';
import type { ConversationService } from '../service.ts';
import { PATH, tag } from './conversation-routes.ts';

const common = { auth: 'viewer', scope: 'account:manage', tag, path: `${PATH}/folders` } as const;

export function folderRoutes(service: ConversationService): Route[] {
  return [
    route({
      ...common,
      method: 'GET',
      maxBody: 0,
      summary: 'Folders of your conversations, by name',
      description: 'Without archived and temporary conversations. A folder is there while a conversation is in it.',
      responses: { 200: FolderList },
      errors: errorSpecs('storage_unavailable'),
      handle: refusing(async ({ caller }) => {
        const folders = await service.listFolders(ownerOf(caller));
        return json(200, { data: folders.map(({ folder, nConversations }) => ({ folder, conversations: nConversations })) });
      }),
    }),
    route({
      ...common,
      method: 'PATCH',
      maxBody: 4096,
      summary: 'Rename a folder, or take its conversations out of it',
      body: RenameFolder,
      responses: { 200: FolderChanged },
      errors: errorSpecs('invalid_request', 'storage_unavailable'),
      handle: refusing(async ({ caller, body }) =>
        json(200, { changed: await service.renameFolder(ownerOf(caller), body.folder, body.name) }),
      ),
    }),
  ];
}
