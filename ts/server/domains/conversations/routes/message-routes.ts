/** Messages of a conversation, and the search in all of the caller's. */
import { json, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { conversationErrors } from '../errors.ts';
import { MAX_CONTENT_LENGTH, MAX_JSON_LENGTH, MAX_PAGE_MESSAGES, MAX_SEARCH_HITS } from '../limits.ts';
import { ownerOf } from '../owner.ts';
import {
  AppendMessage,
  HitList,
  MessageList,
  MessageShape,
  MessagesQuery,
  SearchQueryShape,
  toHitShape,
  toMessageShape,
} from '../schemas.ts';
import type { ConversationService } from '../service.ts';
import { PATH } from './conversation-routes.ts';

/** A character takes up to six bytes in JSON, as an escape. */
const MAX_BODY_BYTES = 6 * MAX_CONTENT_LENGTH + 3 * MAX_JSON_LENGTH;

const { get, post } = routes({ tag: 'Conversations', auth: 'viewer', scope: 'account:manage', errors: conversationErrors });

export function messageRoutes(service: ConversationService): Route[] {
  return [listRoute(service), appendRoute(service), searchRoute(service)];
}

function listRoute(service: ConversationService): Route {
  return get(`${PATH}/messages`, {
    summary: 'Messages of a conversation, in their order',
    description: 'A page ends at `limit` messages or at 8 MiB of them.',
    query: MessagesQuery,
    answer: MessageList,
    errors: ['invalid_request', 'conversation_not_found'],
    handle: async ({ caller, query: { id, after, before, limit = MAX_PAGE_MESSAGES } }) => {
      const fromEnd = before !== undefined && after === undefined;
      const { messages, isWhole } = await service.messages(ownerOf(caller), id, { after, before, fromEnd, limit });
      const next = fromEnd ? messages[0]?.seq : messages.at(-1)?.seq;
      return { data: messages.map(toMessageShape), ...(isWhole || next === undefined ? {} : { next }) };
    },
  });
}

function appendRoute(service: ConversationService): Route {
  return post(`${PATH}/messages`, {
    maxBody: MAX_BODY_BYTES,
    summary: 'Append a message to a conversation',
    description:
      'With an `id` of its own a client may send a message again: it is stored once, and the answer then has status 200. The first 64 Ki characters ' +
      'and 5,000 different words of a message are searched.',
    body: AppendMessage,
    responses: { 200: MessageShape, 201: MessageShape },
    errors: [
      'invalid_request',
      'conversation_not_found',
      'message_not_found',
      'message_conflict',
      'version_conflict',
      'conversation_full',
      'conversation_quota_exceeded',
    ],
    handle: async ({ caller, body }) => {
      const { conversation_id: conversationId, parent_id: parentId, version: expectedVersion, ...rest } = body;
      const { message, isNew } = await service.append(ownerOf(caller), conversationId, { ...rest, parentId }, expectedVersion);
      return json(isNew ? 201 : 200, toMessageShape(message));
    },
  });
}

function searchRoute(service: ConversationService): Route {
  return get(`${PATH}/search`, {
    summary: 'Search your messages and titles as you type',
    description:
      `At most ${MAX_SEARCH_HITS} hits, newest first. Every word must be there, each as the beginning of a word, without regard to case and accents. ` +
      'Scripts without spaces between words are found anywhere.',
    query: SearchQueryShape,
    answer: HitList,
    errors: ['invalid_request'],
    handle: async ({ caller, query }) => {
      const hits = await service.search(ownerOf(caller), query.q);
      return { data: hits.map(toHitShape) };
    },
  });
}
