/** The caller's conversations: list, create, change, erase. */
import type { Static } from 'typebox';
import { json, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { type ConversationError, conversationError, conversationErrors } from '../errors.ts';
import { MAX_JSON_LENGTH, MAX_PAGE_CONVERSATIONS } from '../limits.ts';
import { type Owner, ownerOf } from '../owner.ts';
import {
  ConversationList,
  ConversationShape,
  CreateConversation,
  Erased,
  EraseSelector,
  ListQuery,
  PatchConversation,
  toConversationShape,
  toListedShape,
} from '../schemas.ts';
import type { ConversationService } from '../service.ts';
import { cursorText, readCursor } from './cursor.ts';

export const PATH = '/api/v1/edge/conversations';
const MAX_BODY_BYTES = 3 * MAX_JSON_LENGTH;

const SCOPE_NOTE =
  'Only the conversations of the caller: of the account of its session or key, else of the key. While authentication is off, all callers ' +
  'of a tenant who present no account are one anonymous caller and share theirs.';

/** Of one conversation that is being erased, or of all of the owner's. */
export type EndStreams = (owner: Owner, id?: string) => Promise<void>;

const { get, post, patch, del } = routes({
  tag: 'Conversations',
  auth: 'viewer',
  scope: 'account:manage',
  maxBody: MAX_BODY_BYTES,
  errors: conversationErrors,
});

export function conversationRoutes(service: ConversationService, endStreams: EndStreams): Route[] {
  return [
    listRoute(service, PATH),
    listRoute(service, '/api/v1/users/me/conversations'),
    createRoute(service),
    ...changeRoutes(service, endStreams),
  ];
}

function listRoute(service: ConversationService, path: string): Route {
  return get(path, {
    summary: 'Your conversations, those written to last first',
    description: `${SCOPE_NOTE} Temporary ones are left out, and so is \`metadata\`, which POST with an \`id\` answers.`,
    query: ListQuery,
    answer: ConversationList,
    errors: ['invalid_request'],
    handle: ({ caller, query }) => listPage(service, ownerOf(caller), query),
  });
}

async function listPage(service: ConversationService, owner: Owner, query: Static<typeof ListQuery>) {
  const { limit = MAX_PAGE_CONVERSATIONS, after, archived: isArchived, pinned: isPinned, folder } = query;
  const cursor = after === undefined ? undefined : readCursor(after);
  const found = await service.list(owner, { isArchived, isPinned, folder }, limit + 1, cursor);
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return { data: page.map(toListedShape), ...(last === undefined ? {} : { next: cursorText(last) }) };
}

function createRoute(service: ConversationService): Route {
  return post(PATH, {
    summary: 'Begin a conversation',
    description: 'With the `id` of a conversation that is there already, that one is answered unchanged, with status 200.',
    body: CreateConversation,
    bodyOptional: true,
    responses: { 200: ConversationShape, 201: ConversationShape },
    errors: ['invalid_request', 'too_many_conversations', 'conversation_quota_exceeded'],
    handle: async ({ caller, body = {} }) => {
      const { pinned = false, archived = false, temporary = false, ...rest } = body;
      const input = { ...rest, isPinned: pinned, isArchived: archived, isTemporary: temporary };
      const { conversation, isNew } = await service.create(ownerOf(caller), input);
      return json(isNew ? 201 : 200, toConversationShape(conversation));
    },
  });
}

function changeRoutes(service: ConversationService, endStreams: EndStreams): Route[] {
  return [
    patch(PATH, {
      summary: 'Rename a conversation, pin or archive it, move it to a folder, or choose the branch that is shown',
      description: 'Members that are left out stay as they are; null removes.',
      body: PatchConversation,
      answer: ConversationShape,
      errors: [
        'invalid_request',
        'conversation_not_found',
        'message_not_found',
        'version_conflict',
        'conversation_quota_exceeded',
      ],
      handle: async ({ caller, body }) => {
        const { id, version, pinned: isPinned, archived: isArchived, temporary: isTemporary, ...others } = body;
        const { current_message_id: currentMessageId, ...rest } = others;
        const changes = { ...rest, isPinned, isArchived, isTemporary, currentMessageId };
        if (Object.values(changes).every((value) => value === undefined)) throw nothingToChange();
        return toConversationShape(await service.update(ownerOf(caller), id, changes, version));
      },
    }),
    del(PATH, {
      maxBody: 1024,
      summary: 'Erase all of your conversations, or the one that `id` names',
      description:
        'The rows and their index entries are gone when the answer comes (files of the conversation are found by nobody then, and their rows follow at once), and SQLite has overwritten them with zeros, except in its log, which is ' +
        'overwritten as it is used again. PostgreSQL reuses their space after its next VACUUM. Backups that were made before keep what they have. ' +
        '`id` stands in the query or in a JSON body; any other member is refused, so that a misspelled one does not erase everything.',
      query: EraseSelector,
      body: EraseSelector,
      bodyOptional: true,
      answer: Erased,
      errors: ['invalid_request', 'conversation_not_found'],
      handle: async ({ caller, query, body }) => {
        const [owner, id] = [ownerOf(caller), query.id ?? body?.id];
        await endStreams(owner, id);
        return { deleted: await service.erase(owner, id) };
      },
    }),
  ];
}

function nothingToChange(): ConversationError {
  return conversationError('invalid_request', 'The body names nothing to change: give `title` or another member beside `id`.');
}
