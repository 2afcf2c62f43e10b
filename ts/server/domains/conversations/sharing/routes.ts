/** Links to conversations: made and taken back by the owner, read by everybody of the tenant who has one. */
import { scopeOf } from '../../../platform/http/principal.ts';
import { json, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { conversationErrors } from '../errors.ts';
import { ownerOf } from '../owner.ts';
import { PATH } from '../routes/conversation-routes.ts';
import {
  OptionalSelector,
  RevokeQuery,
  SharedQuery,
  SharedShape,
  ShareList,
  ShareSelector,
  ShareShape,
  toSharedShape,
  toShareShape,
} from './schemas.ts';
import type { ShareService } from './share-service.ts';

const { get, post, del } = routes({ tag: 'Conversations', auth: 'viewer', scope: 'account:manage', errors: conversationErrors });

export function shareRoutes(service: ShareService): Route[] {
  return [shareRoute(service), listRoute(service), readRoute(service), revokeRoute(service)];
}

function shareRoute(service: ShareService): Route {
  return post(`${PATH}/share`, {
    maxBody: 1024,
    summary: 'Share a conversation by link inside the tenant',
    description:
      'Readers see the branch that is shown now, up to its last message; what is written later needs another link. A branch that is shared already ' +
      'keeps its link, with status 200. The link ends when it is taken back, or when the conversation is erased.',
    body: ShareSelector,
    responses: { 200: ShareShape, 201: ShareShape },
    errors: ['invalid_request', 'conversation_not_found'],
    handle: async ({ caller, body }) => {
      const { share, isNew } = await service.share(ownerOf(caller), body.id);
      return json(isNew ? 201 : 200, toShareShape(share));
    },
  });
}

function listRoute(service: ShareService): Route {
  return get(`${PATH}/shares`, {
    summary: 'What you have shared: of one conversation, or of all',
    query: OptionalSelector,
    answer: ShareList,
    handle: async ({ caller, query }) => ({ data: (await service.list(ownerOf(caller), query.id)).map(toShareShape) }),
  });
}

function readRoute(service: ShareService): Route {
  return get(`${PATH}/shared`, {
    summary: 'Read a conversation that somebody of your tenant shared',
    query: SharedQuery,
    answer: SharedShape,
    errors: ['share_not_found'],
    handle: async ({ caller, query }) => toSharedShape(await service.read(scopeOf(caller), query.share, query.after)),
  });
}

function revokeRoute(service: ShareService): Route {
  return del(`${PATH}/share`, {
    summary: 'Take back a link',
    query: RevokeQuery,
    errors: ['share_not_found'],
    handle: async ({ caller, query }) => {
      await service.revoke(ownerOf(caller), query.share);
    },
  });
}
