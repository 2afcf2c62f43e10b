/** Shapes of accounts and messages. */
import Type, { type Static } from 'typebox';
import { named } from '../../platform/schema/named.ts';
import type { Channel } from './channels/channel.ts';
import { ACCOUNT_KINDS, type AccountKind, CHANNELS } from './channels/channels.ts';
import { type AccountRow, MESSAGE_STATES, type MessageRow } from './tables.ts';

const closed = { additionalProperties: false } as const;
const Nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const Time = Type.String({ format: 'date-time' });
const Id = Type.String({ maxLength: 100, pattern: '^[A-Za-z0-9_-]+$' });
const Name = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' });
const Key = Type.String({
  minLength: 1,
  maxLength: 1000,
  pattern: '^[!-~]+$',
  description: 'Sealed by the node that gets it, and used there alone.',
});
const Settings = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'By kind: email `{host, port, user, from, tls}`, matrix `{homeserver, user_id}`, telegram `{chat_ids}`, slack and teams `{}`, sms `{url, form}`, webhook `{url}`.',
});
const Recipients = Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
  maxItems: 1000,
  description:
    'Recipients, in which `*` stands for any characters. Without one nobody is reached, but by hooks, which lead to one place.',
});
const Limits = Type.Object({ per_day: Type.Integer({ minimum: 0, maximum: 1_000_000 }) }, closed);

export const AccountId = Type.Object({ id: Id });
export const MessageId = Type.Object({ id: Id });

export const AddAccount = named(
  'CommAccountNew',
  Type.Object(
    {
      kind: Type.Enum([...ACCOUNT_KINDS]),
      name: Name,
      settings: Settings,
      key: Type.Optional(Key),
      allowed_recipients: Type.Optional(Recipients),
      limits: Type.Optional(Limits),
      model_may_send: Type.Optional(Type.Boolean({ description: 'Without approval; false by default.' })),
    },
    closed,
  ),
);

export const ChangeAccount = named(
  'CommAccountChange',
  Type.Object(
    {
      name: Type.Optional(Name),
      enabled: Type.Optional(Type.Boolean()),
      settings: Type.Optional(Settings),
      key: Type.Optional(Type.Union([Key, Type.Null()], { description: 'null forgets it.' })),
      allowed_recipients: Type.Optional(Recipients),
      limits: Type.Optional(Limits),
      model_may_send: Type.Optional(Type.Boolean()),
    },
    { ...closed, minProperties: 1 },
  ),
);

export const AccountShape = named(
  'CommAccount',
  Type.Object({
    id: Type.String(),
    kind: Type.Enum([...ACCOUNT_KINDS]),
    name: Type.String(),
    enabled: Type.Boolean(),
    key_present: Type.Boolean({ description: 'The key itself is never shown.' }),
    can: Type.Object({
      attachments: Type.Boolean(),
      idempotent: Type.Boolean({ description: 'A repetition is known as one, so a message goes out exactly once.' }),
      calls: Type.Boolean(),
    }),
    allowed_recipients: Type.Array(Type.String()),
    limits: Limits,
    model_may_send: Type.Boolean(),
  }),
);
export const AccountList = named('CommAccountList', Type.Object({ data: Type.Array(AccountShape) }));

export const SendMessage = named(
  'CommMessageNew',
  Type.Object(
    {
      account_id: Id,
      to: Type.Optional(Type.String({ maxLength: 300, description: 'Empty for hooks, which lead to one place.' })),
      text: Type.String({ minLength: 1, maxLength: 50_000, pattern: '\\S' }),
      file_ids: Type.Optional(
        Type.Array(Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$' }), {
          maxItems: 10,
          description: 'Stored files of the caller, 10 MiB together, where the account `can` take attachments.',
        }),
      ),
      subject: Type.Optional(Type.String({ minLength: 1, maxLength: 300, pattern: '^[^\\u0000-\\u001f\\u007f]+$' })),
      idempotency_key: Type.Optional(Type.String({ pattern: '^[!-~]{1,200}$' })),
    },
    closed,
  ),
);

export const MessageAccepted = named(
  'CommMessageAccepted',
  Type.Object({
    message_id: Nullable(Type.String({ description: 'null while it waits for approval: its outcome has it.' })),
    state: Type.Enum(['waiting_approval', ...MESSAGE_STATES]),
    approval_id: Type.Optional(Type.String()),
  }),
);

export const MessageShape = named(
  'CommMessage',
  Type.Object({
    id: Type.String(),
    account_id: Type.String(),
    to: Type.String({ description: 'As much of the recipient as a record needs.' }),
    state: Type.Enum([...MESSAGE_STATES], {
      description: '`outcome_unknown`: no answer came, and it is sent again by a person alone.',
    }),
    reason: Nullable(Type.String()),
    reference: Nullable(Type.String({ description: 'What the provider calls it.' })),
    created_at: Time,
    updated_at: Time,
  }),
);

export const SearchAnswer = named(
  'CommSearch',
  Type.Object({ results: Type.Array(Type.Unknown()), count: Type.Literal(0), _stub: Type.Literal(true) }),
);

export function accountBody(row: AccountRow): Static<typeof AccountShape> {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    enabled: row.enabled === 1,
    key_present: row.sealed_key !== null,
    can: canOf(row.kind),
    allowed_recipients: JSON.parse(row.allowed_recipients) as string[],
    limits: { per_day: row.per_day },
    model_may_send: row.model_may_send === 1,
  };
}

function canOf(kind: AccountKind) {
  const { takesFiles, isIdempotent }: Channel = CHANNELS[kind];
  return { attachments: takesFiles, idempotent: isIdempotent, calls: false };
}

export function messageBody(row: MessageRow): Static<typeof MessageShape> {
  return {
    id: row.id,
    account_id: row.account,
    to: row.masked_to,
    state: row.state,
    reason: row.reason,
    reference: row.reference,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  };
}
