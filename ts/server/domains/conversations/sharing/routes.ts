/** Links to conversations: made and taken back by the owner, read by everybody of the tenant who has one. */
import Type from 'typebox';
import { scopeOf } from '../../../platform/http/principal.ts';
import { json, type Route, route } from '../../../platform/http/route.ts';
import { errorSpecs, refusing } from '../errors.ts';
import { ownerOf } from '../owner.ts';
import { PATH, tag } from '../routes/conversation-routes.ts';
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

const common = { auth: 'viewer', scope: 'account:manage', tag } as const;

export function shareRoutes(service: ShareService): Route[] {
  return [shareRoute(service), listRoute(service), readRoute(service), revokeRoute(service)];
}

function shareRoute(service: ShareService): Route {
  return route({
    ...common,
    method: 'POST',
    path: `${PATH}/share`,
    maxBody: 1024,
    summary: 'Share a conversation by link inside the tenant',
    description:
      'Readers see the branch that is shown now, up to its last message; what is written later needs another link. A branch that is shared already ' +
      'keeps its link, with status 200. The link ends when it is taken back, or when the conversation is erased.',
    body: ShareSelector,
    responses: { 200: ShareShape, 201: ShareShape },
    errors: errorSpecs('invalid_request', 'conversation_not_found', 'storage_unavailable'),
    handle: refusing(async ({ caller, body }) => {
      const { share, isNew } = await service.share(ownerOf(caller), body.id);
      return json(isNew ? 201 : 200, toShareShape(share));
    }),
  });
}

function listRoute(service: ShareService): Route {
  return route({
    ...common,
    method: 'GET',
    path: `${PATH}/shares`,
    maxBody: 0,
    summary: 'What you have shared: of one conversation, or of all',
    query: OptionalSelector,
    responses: { 200: ShareList },
    errors: errorSpecs('storage_unavailable'),
    handle: refusing(async ({ caller, query }) =>
      json(200, { data: (await service.list(ownerOf(caller), query.id)).map(toShareShape) }),
    ),
  });
}

function readRoute(service: ShareService): Route {
  return route({
    ...common,
    method: 'GET',
    path: `${PATH}/shared`,
    maxBody: 0,
    summary: 'Read a conversation that somebody of your tenant shared',
    query: SharedQuery,
    responses: { 200: SharedShape },
    errors: errorSpecs('share_not_found', 'storage_unavailable'),
    handle: refusing(async ({ caller, query }) =>
      json(200, toSharedShape(await service.read(scopeOf(caller), query.share, query.after))),
    ),
  });
}

function revokeRoute(service: ShareService): Route {
  return route({
    ...common,
    method: 'DELETE',
    path: `${PATH}/share`,
    maxBody: 0,
    summary: 'Take back a link',
    query: RevokeQuery,
    responses: { 204: Type.Null() },
    errors: errorSpecs('share_not_found', 'storage_unavailable'),
    handle: refusing(async ({ caller, query }) => {
      await service.revoke(ownerOf(caller), query.share);
      return { kind: 'bytes', status: 204, headers: {}, body: '' };
    }),
  });
}
