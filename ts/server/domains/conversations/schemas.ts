/** Shapes of the HTTP interface. */
import Type, { type Static } from 'typebox';
import { toWire } from '../../platform/http/to-wire.ts';
import { named } from '../../platform/schema/named.ts';
import { type Conversation, type ListedConversation, MESSAGE_ROLES, type Message } from './conversation.ts';
import {
  MAX_CONTENT_LENGTH,
  MAX_FOLDER_LENGTH,
  MAX_MODEL_LENGTH,
  MAX_PAGE_CONVERSATIONS,
  MAX_PAGE_MESSAGES,
  MAX_SEARCH_LENGTH,
  MAX_TITLE_LENGTH,
} from './limits.ts';
import type { SearchHit } from './search/hit-collector.ts';

export const ID_PATTERN = '^[A-Za-z0-9_-]{1,64}$';

const Id = Type.String({ pattern: ID_PATTERN, description: '1 to 64 letters, digits, `_` and `-`.' });
/** In questions any text may come: one that is no id is not found. */
const GivenId = Type.String({ minLength: 1, maxLength: 200 });
const Time = Type.String({ format: 'date-time' });
const Title = Type.String({ maxLength: MAX_TITLE_LENGTH });
const Folder = Type.String({ minLength: 1, maxLength: MAX_FOLDER_LENGTH });
const Model = Type.String({ maxLength: MAX_MODEL_LENGTH });
const Metadata = Type.Record(Type.String(), Type.Unknown(), { description: 'Anything that the client wants to keep.' });
const Version = Type.Integer({ minimum: 1, description: 'Refused with 409 unless the conversation is at this version.' });
const nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

const listed = {
  id: Id,
  title: Title,
  folder: nullable(Folder),
  pinned: Type.Boolean(),
  archived: Type.Boolean(),
  temporary: Type.Boolean({
    description: 'Not listed, found or exported with the others, and erased some time after its last message.',
  }),
  model: nullable(Model),
  current_message_id: nullable(Type.String({ description: 'The last message of the branch that is shown.' })),
  message_count: Type.Integer(),
  version: Type.Integer({ description: 'Counts all changes.' }),
  created_at: Time,
  updated_at: Type.String({ format: 'date-time', description: 'Of the last message or title.' }),
};

const ListedConversationShape = named('ListedConversation', Type.Object(listed));
export const ConversationShape = named('Conversation', Type.Object({ ...listed, metadata: nullable(Metadata) }));

export const MessageShape = named(
  'Message',
  Type.Object({
    id: Id,
    conversation_id: Id,
    seq: Type.Integer({ description: 'Counts the messages of a conversation from 1.' }),
    parent_id: nullable(Type.String({ description: 'The message that this one follows: messages form branches.' })),
    role: Type.Enum([...MESSAGE_ROLES]),
    content: Type.String(),
    ts: Time,
    model: Type.Optional(Model),
    citations: Type.Optional(Type.Array(Type.Unknown())),
    metadata: Type.Optional(Metadata),
  }),
);

export const ConversationList = named(
  'ConversationList',
  Type.Object({
    data: Type.Array(ListedConversationShape),
    next: Type.Optional(Type.String({ description: 'Pass it as `after` for the next page; absent on the last one.' })),
  }),
);

export const ListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_CONVERSATIONS, default: MAX_PAGE_CONVERSATIONS })),
  after: Type.Optional(Type.String({ maxLength: 100 })),
  archived: Type.Optional(Type.Boolean()),
  pinned: Type.Optional(Type.Boolean()),
  folder: Type.Optional(Folder),
});

export const CreateConversation = named(
  'CreateConversation',
  Type.Object({
    id: Type.Optional(Id),
    title: Type.Optional(Title),
    folder: Type.Optional(Folder),
    pinned: Type.Optional(Type.Boolean()),
    archived: Type.Optional(Type.Boolean()),
    temporary: Type.Optional(Type.Boolean()),
    model: Type.Optional(Model),
    metadata: Type.Optional(Metadata),
  }),
);

export const PatchConversation = named(
  'PatchConversation',
  Type.Object(
    {
      id: GivenId,
      title: Type.Optional(Title),
      folder: Type.Optional(nullable(Folder)),
      pinned: Type.Optional(Type.Boolean()),
      archived: Type.Optional(Type.Boolean()),
      temporary: Type.Optional(
        Type.Literal(false, {
          description: 'Keeps a temporary conversation that has no message yet, as one that was begun for its files.',
        }),
      ),
      model: Type.Optional(nullable(Model)),
      metadata: Type.Optional(nullable(Metadata)),
      current_message_id: Type.Optional(GivenId),
      version: Type.Optional(Version),
    },
    { additionalProperties: false },
  ),
);

export const FolderList = named(
  'FolderList',
  Type.Object({
    data: Type.Array(Type.Object({ folder: Folder, conversations: Type.Integer() })),
  }),
);

export const RenameFolder = named(
  'RenameFolder',
  Type.Object(
    { folder: Folder, name: Type.Union([Folder, Type.Null()], { description: 'Null takes its conversations out of it.' }) },
    { additionalProperties: false },
  ),
);

export const FolderChanged = named('FolderChanged', Type.Object({ changed: Type.Integer({ description: 'Conversations.' }) }));

/** No other member is taken: a misspelled id must not erase everything. */
export const EraseSelector = named('EraseSelector', Type.Object({ id: Type.Optional(GivenId) }, { additionalProperties: false }));

export const Erased = named('Erased', Type.Object({ deleted: Type.Integer({ description: 'Conversations that were erased.' }) }));

export const MessagesQuery = Type.Object({
  id: GivenId,
  after: Type.Optional(Type.Integer({ minimum: 0, description: 'Messages behind this `seq`.' })),
  before: Type.Optional(Type.Integer({ minimum: 1, description: 'The last messages before this `seq`.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_MESSAGES, default: MAX_PAGE_MESSAGES })),
});

export const MessageList = named(
  'MessageList',
  Type.Object({
    data: Type.Array(MessageShape),
    next: Type.Optional(
      Type.Integer({
        description: 'A `seq`: pass it as `after` (with `before`: as `before`) for more; absent when there is none.',
      }),
    ),
  }),
);

export const AppendMessage = named(
  'AppendMessage',
  Type.Object({
    conversation_id: GivenId,
    id: Type.Optional(Id),
    role: Type.Enum([...MESSAGE_ROLES]),
    content: Type.String({ maxLength: MAX_CONTENT_LENGTH }),
    parent_id: Type.Optional(
      Type.Union([GivenId, Type.Null()], {
        description: 'Default: the last message of the branch that is shown. Null begins a new one.',
      }),
    ),
    model: Type.Optional(Model),
    citations: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 1000 })),
    metadata: Type.Optional(Metadata),
    version: Type.Optional(Version),
  }),
);

export const SearchQueryShape = Type.Object({
  q: Type.String({ maxLength: MAX_SEARCH_LENGTH, description: 'Words, each of which may be the beginning of one.' }),
});

const HitShape = named(
  'SearchHit',
  Type.Object({
    conversation_id: Id,
    title: Title,
    message_id: nullable(Id),
    role: Type.String({ description: 'Of the message; `title` where the title has the words.' }),
    snippet: Type.String({
      description: 'Plain text, to be escaped where it is shown as HTML. U+2026 stands for what is left out.',
    }),
    matches: Type.Array(Type.Object({ start: Type.Integer(), end: Type.Integer() }), {
      description: 'Where the words stand in the snippet: from `start` to before `end`, in UTF-16 code units.',
    }),
    ts: Time,
  }),
);

export const HitList = named('SearchHitList', Type.Object({ data: Type.Array(HitShape) }));

export const ExportQuery = Type.Object(
  {
    id: Type.Optional(GivenId),
    format: Type.Optional(Type.Enum(['json', 'markdown'], { default: 'json' })),
  },
  { additionalProperties: false },
);

export const ImportResult = named(
  'ImportResult',
  Type.Object({
    imported: Type.Integer({ description: 'Conversations.' }),
    skipped: Type.Integer({ description: 'Conversations whose ids were there already.' }),
    messages: Type.Integer({ description: 'Of those that were imported.' }),
    failed: Type.Array(Type.Object({ index: Type.Integer(), reason: Type.String() }), {
      description: 'Conversations of the file, counted from 0, that could not be read; at most 100.',
    }),
  }),
);

export const toConversationShape: (conversation: Conversation) => Static<typeof ConversationShape> = toWire;

export const toListedShape: (conversation: ListedConversation) => Static<typeof ListedConversationShape> = toWire;

export function toMessageShape(message: Message): Static<typeof MessageShape> {
  return {
    id: message.id,
    conversation_id: message.conversationId,
    seq: message.seq,
    parent_id: message.parentId ?? null,
    role: message.role,
    content: message.content,
    ts: timeText(message.ts),
    ...(message.model === undefined ? {} : { model: message.model }),
    ...(message.citations === undefined ? {} : { citations: [...message.citations] }),
    ...(message.metadata === undefined ? {} : { metadata: message.metadata }),
  };
}

export function toHitShape(hit: SearchHit): Static<typeof HitShape> {
  return {
    conversation_id: hit.conversationId,
    title: hit.title,
    message_id: hit.messageId ?? null,
    role: hit.role,
    snippet: hit.snippet,
    matches: hit.matches.map(({ start, end }) => ({ start, end })),
    ts: timeText(hit.ts),
  };
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
