/** Shapes of the HTTP interface. */
import Type, { type Static } from 'typebox';
import { type ErrorBody, flatErrorBody } from '../../platform/http/error-body.ts';
import { listOf } from '../../platform/http/page.ts';
import { named } from '../../platform/schema/named.ts';
import {
  isShared,
  MEMORY_KINDS,
  MEMORY_STATES,
  type Memory,
  type MemoryChange,
  ORIGIN_TYPES,
  type Origin,
  TENANT,
  TRUSTS,
} from './memory.ts';

export const MAX_TEXT = 1_000;
const MAX_SUBJECT = 100;
const MAX_QUERY = 4_000;
const MOST_RESULTS = 50;

const Id = Type.String({ pattern: '^mem_[0-9a-f-]{36}$' });
/** Those of conversations and of their messages. */
const SaidId = Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' });
const Time = Type.String({ format: 'date-time' });
export const Kind = Type.Enum([...MEMORY_KINDS]);
const Text = Type.String({ minLength: 1, maxLength: MAX_TEXT, pattern: '\\S' });
const Subject = Type.String({ minLength: 1, maxLength: MAX_SUBJECT, pattern: '\\S' });
const nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

const OriginShape = Type.Object({
  type: Type.Enum([...ORIGIN_TYPES]),
  at: Time,
  conversation_id: Type.Optional(SaidId),
  message_id: Type.Optional(SaidId),
  start: Type.Optional(Type.Integer({ minimum: 0 })),
  end: Type.Optional(Type.Integer({ minimum: 0 })),
});

const members = {
  id: Id,
  owner: Type.Enum(['me', TENANT]),
  kind: Kind,
  text: Type.String(),
  subject: nullable(Type.String()),
  origins: Type.Array(OriginShape),
  trust: Type.Enum([...TRUSTS], { description: 'Stated by a person, derived by a dream, or imported from a file.' }),
  valid_from: Time,
  valid_to: nullable(Time),
  recorded_at: Time,
  superseded_by: nullable(Id),
  strength: Type.Number({ description: 'Grows when it is recalled or said again.' }),
  pinned: Type.Boolean(),
  state: Type.Enum([...MEMORY_STATES]),
};

export const MemoryShape = named('Memory', Type.Object(members));
export const MemoryList = listOf(MemoryShape);

export const ChangeShape = Type.Object({
  id: Type.String(),
  at: Time,
  action: Type.String(),
  before: Type.Object({}),
  after: Type.Object({}),
  reason: Type.String(),
});
export const MemoryDetail = named('MemoryDetail', Type.Object({ ...members, history: Type.Array(ChangeShape) }));

export const MemoryHits = named(
  'MemoryHits',
  Type.Object({
    data: Type.Array(
      Type.Object({
        ...members,
        score: Type.Number({ description: 'How sure it is that the memory is about the query, 0 to 1.' }),
      }),
    ),
  }),
);

export const ListQuery = Type.Object({
  include: Type.Optional(
    Type.Enum(['superseded', 'archived'], { description: 'Memories of this state beside those that are current.' }),
  ),
  after: Type.Optional(Type.String({ maxLength: 128, description: '`next` of the page before.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
});

export const MemoryParams = Type.Object({ id: Id });

export const CreateMemory = named(
  'CreateMemory',
  Type.Object(
    {
      text: Text,
      kind: Type.Optional(Kind),
      subject: Type.Optional(Subject),
      owner: Type.Optional(Type.Enum(['me', TENANT], { description: 'me by default.' })),
      valid_from: Type.Optional(Time),
      conversation_id: Type.Optional(SaidId),
      message_id: Type.Optional(SaidId),
    },
    { additionalProperties: false },
  ),
);

export const ChangeMemory = named(
  'ChangeMemory',
  Type.Object(
    {
      text: Type.Optional(Text),
      kind: Type.Optional(Kind),
      subject: Type.Optional(nullable(Subject)),
      valid_from: Type.Optional(Time),
      valid_to: Type.Optional(nullable(Time)),
      pinned: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
);

export const SearchMemories = Type.Object(
  {
    query: Type.String({ minLength: 1, maxLength: MAX_QUERY, pattern: '\\S' }),
    max: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_RESULTS, description: '10 by default, with `recall` 8.' })),
    recall: Type.Optional(Type.Boolean({ description: 'Only what a chat would recall. false by default.' })),
  },
  { additionalProperties: false },
);

export const Forgotten = Type.Object({
  deleted: Type.Integer({ description: 'Those that say the same go with a memory.' }),
  files: Type.Array(Type.String(), { description: 'Exported files that still hold some of it.' }),
  files_unread: Type.Optional(
    Type.Literal(true, { description: 'It is forgotten, and the files could not be read now: any of yours may still hold it.' }),
  ),
});

export const OwnerQuery = Type.Object({
  owner: Type.String({
    pattern: '^(tenant|anonymous|(user:|key:)?[A-Za-z0-9_-]{1,64})$',
    description: 'The id of an account, or tenant for the memories of the whole tenant.',
  }),
});

export const MemorySettings = named(
  'MemorySettings',
  Type.Object(
    {
      recall: Type.Enum(['off', 'on'], {
        description: 'on: chats of the account recall memories without being asked to. off by default.',
      }),
      extract: Type.Optional(
        Type.Enum(['off', 'on'], {
          description:
            'on: a while after the last message of a conversation, a model takes memories from what the person wrote in it since this was switched on. ' +
            'off by default; where it is absent, it stays as it is.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
);

/** Refusals name the member that they are of. */
export const memoryErrorBody: ErrorBody = {
  name: 'memory',
  schema: {
    ...flatErrorBody.schema,
    properties: {
      ...(flatErrorBody.schema['properties'] as object),
      param: { type: 'string', description: 'The member that is wrong.' },
    },
  },
  write: (error, path) => ({
    ...flatErrorBody.write(error, path),
    ...(error.param !== undefined && { param: error.param }),
  }),
};

type MemoryBody = Static<typeof MemoryShape>;

export function memoryBody(memory: Memory): MemoryBody {
  const { id, owner, kind, text, subject, origins, trust, recordedAt, supersededBy, strength, isPinned, state } = memory;
  return {
    id,
    owner: isShared(owner) ? TENANT : 'me',
    kind,
    text,
    subject: subject ?? null,
    origins: origins.map(originBody),
    trust,
    valid_from: iso(memory.validFrom),
    valid_to: memory.validTo === undefined ? null : iso(memory.validTo),
    recorded_at: iso(recordedAt),
    superseded_by: supersededBy ?? null,
    strength,
    pinned: isPinned,
    state,
  };
}

function originBody({ type, at, conversationId, messageId, start, end }: Origin): Static<typeof OriginShape> {
  return {
    type,
    at: iso(at),
    ...(conversationId !== undefined && { conversation_id: conversationId }),
    ...(messageId !== undefined && { message_id: messageId }),
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
  };
}

const CHANGED: Readonly<Record<string, string>> = {
  validFrom: 'valid_from',
  validTo: 'valid_to',
  supersededBy: 'superseded_by',
  isPinned: 'pinned',
  decayedAt: 'decayed_at',
};

export function changeBody({ id, at, action, before, after, reason }: MemoryChange): Static<typeof ChangeShape> {
  return { id, at: iso(at), action, before: changedBody(before), after: changedBody(after), reason };
}

function changedBody(members: object): Record<string, unknown> {
  const entries = Object.entries(members).map(([name, value]: [string, unknown]) => [
    CHANGED[name] ?? name,
    changedValue(name, value),
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function changedValue(name: string, value: unknown): unknown {
  if (name === 'origins') return (value as Origin[]).map(originBody);
  return TIMES.includes(name) && typeof value === 'number' ? iso(value) : value;
}

const TIMES: readonly string[] = ['validFrom', 'validTo', 'decayedAt'];

export function iso(at: number): string {
  return new Date(at).toISOString();
}
