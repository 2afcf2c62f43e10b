/** Shapes of accounts and messages. */
import Type, { type Static } from 'typebox';
import { named } from '../../platform/schema/named.ts';
import type { Channel } from './channels/channel.ts';
import { ACCOUNT_KINDS, type AccountKind, CHANNELS } from './channels/channels.ts';
import { type AccountRow, CALL_STATES, type CallRow, MESSAGE_STATES, type MessageRow } from './tables.ts';

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
    'By kind: email `{host, port, user, from, tls}`, matrix `{homeserver, user_id}`, telegram `{chat_ids}`, slack and teams `{}`, sms `{url, form}`, webhook `{url}`, sip `{registrar, user, domain, transport, audio_port_range}`.',
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

export const StartCall = named(
  'CommCallNew',
  Type.Object(
    {
      account_id: Id,
      to: Type.String({ pattern: '^[!-~]{1,64}$' }),
      say: Type.Optional(
        Type.String({ minLength: 1, maxLength: 4000, pattern: '\\S', description: 'Read aloud when somebody answers.' }),
      ),
      file_id: Type.Optional(
        Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$', description: 'A stored WAV file of the caller, played first.' }),
      ),
      voice: Type.Optional(Type.String({ maxLength: 100 })),
      digits: Type.Optional(
        Type.Object(
          {
            max: Type.Integer({ minimum: 1, maximum: 32 }),
            timeout_seconds: Type.Integer({ minimum: 1, maximum: 60 }),
            end: Type.Optional(Type.String({ pattern: '^[0-9*#A-D]$', description: '`#` by default.' })),
          },
          { ...closed, description: 'Keys that are collected, from the first sound on.' },
        ),
      ),
      record: Type.Optional(Type.Boolean({ description: 'After what is said and a tone; until the other side hangs up.' })),
      max_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 14_400, description: 'At most comm.call_max_seconds.' })),
      ring_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 180, description: '30 by default.' })),
    },
    closed,
  ),
);

export const CallAccepted = named(
  'CommCallAccepted',
  Type.Object({
    call_id: Nullable(Type.String({ description: 'null while it waits for approval: its outcome has it.' })),
    state: Type.Enum(['waiting_approval', ...CALL_STATES]),
    approval_id: Type.Optional(Type.String()),
  }),
);

export const CallId = Type.Object({ id: Id });
/** Null: another node has it, or there is none. */
interface HeardTexts {
  readonly digits: string | null;
  readonly transcript: string | null;
}

export const CallShape = named(
  'CommCall',
  Type.Object({
    id: Type.String(),
    account_id: Type.String(),
    to: Type.String(),
    state: Type.Enum([...CALL_STATES]),
    sip_status: Nullable(Type.Integer({ description: 'The last answer to the INVITE.' })),
    reason: Nullable(Type.String()),
    digits: Nullable(Type.String({ description: 'null where another node has them.' })),
    recording_file_id: Nullable(Type.String()),
    transcript: Nullable(
      Type.String({
        description: 'What was said in the recording, by the default speech model; it comes after the end of the call.',
      }),
    ),
    talked_seconds: Type.Number(),
    created_at: Time,
    updated_at: Time,
  }),
);

export function callBody(row: CallRow, heard: HeardTexts): Static<typeof CallShape> {
  return {
    id: row.id,
    account_id: row.account,
    to: row.masked_to,
    state: row.state,
    sip_status: row.sip_status,
    reason: row.reason,
    digits: heard.digits,
    recording_file_id: row.recording,
    transcript: heard.transcript,
    talked_seconds: row.talked_ms / 1000,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  };
}

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
  const { takesFiles, isIdempotent, makesCalls }: Channel = CHANNELS[kind];
  return { attachments: takesFiles, idempotent: isIdempotent, calls: makesCalls };
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
