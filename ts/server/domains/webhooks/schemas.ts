/** Shapes of the webhook API. Times are ISO 8601 in UTC. */
import Type, { type Static } from 'typebox';
import { named } from '../../platform/schema/named.ts';
import { EVENT_NAMES } from './event-catalogue.ts';
import type { DeliveryRow, WebhookRow } from './store/tables.ts';

const Time = Type.String({ description: 'ISO 8601, UTC.' });
const Nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const Events = Type.Array(Type.Enum([...EVENT_NAMES]), { minItems: 1, maxItems: EVENT_NAMES.length, uniqueItems: true });
const Description = Type.String({ maxLength: 200 });
const GivenId = Type.String({ minLength: 1, maxLength: 128 });

export const WebhookId = Type.Object({ id: GivenId });
export const DeliveryId = Type.Object({ id: GivenId, delivery: GivenId });
export const NewWebhook = named(
  'NewWebhook',
  Type.Object({
    url: Type.String({ minLength: 1, maxLength: 2048, description: 'https, and not inside a private network.' }),
    events: Events,
    description: Type.Optional(Description),
  }),
);
export const WebhookPatch = named(
  'WebhookPatch',
  Type.Object({
    events: Type.Optional(Events),
    description: Type.Optional(Description),
    enabled: Type.Optional(Type.Boolean({ description: 'What waited meanwhile is sent when it is enabled again.' })),
  }),
);
export const Webhook = named(
  'Webhook',
  Type.Object({
    id: Type.String(),
    url: Type.String(),
    events: Type.Array(Type.String()),
    description: Type.String(),
    enabled: Type.Boolean(),
    disabled_reason: Nullable(Type.String()),
    created_at: Time,
    failing_since: Nullable(Type.String({ description: 'When the first of the deliveries failed that have failed ever since.' })),
  }),
);
export const WebhookCreated = named(
  'WebhookCreated',
  Type.Object({
    ...Webhook.properties,
    secret: Type.String({ description: 'For checking signatures. Shown this once.' }),
  }),
);
export const DEFAULT_OVERLAP_SECONDS = 86_400;
export const RotateSecret = named(
  'RotateSecret',
  Type.Object({
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30 * 86_400,
        default: DEFAULT_OVERLAP_SECONDS,
        description: 'How long deliveries are signed with the old secret as well.',
      }),
    ),
  }),
);
export const RotatedSecret = named(
  'RotatedSecret',
  Type.Object({
    id: Type.String(),
    secret: Type.String({ description: 'The new one. Shown this once.' }),
    previous_valid_until: Time,
  }),
);
export const WebhookList = named('WebhookList', Type.Object({ data: Type.Array(Webhook) }));
export const EventList = named(
  'WebhookEventList',
  Type.Object({
    data: Type.Array(
      Type.Object({
        type: Type.String(),
        description: Type.String(),
        needs_superadmin: Type.Boolean(),
        data_schema: Type.Object({}, { description: 'JSON Schema of the member `data`.' }),
      }),
    ),
  }),
);

export const Delivery = named(
  'WebhookDelivery',
  Type.Object({
    id: Type.String({ description: 'The webhook-id header; the same at every attempt.' }),
    type: Type.String(),
    state: Type.Enum(['pending', 'delivered', 'failed']),
    attempts: Type.Integer(),
    created_at: Time,
    next_attempt_at: Nullable(Time),
    ended_at: Nullable(Time),
    last_status: Nullable(Type.Integer()),
    last_error: Nullable(Type.String()),
    payload: Type.Object({}, { description: 'What is sent.' }),
  }),
);
export const DeliveryPage = Type.Object({
  state: Type.Optional(Type.Enum(['pending', 'delivered', 'failed'])),
  after: Type.Optional(Type.String({ maxLength: 128, description: '`next` of the page before.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
});
export const DeliveryList = named(
  'WebhookDeliveryList',
  Type.Object({
    data: Type.Array(Delivery),
    next: Type.Optional(Type.String({ description: 'Absent on the last page.' })),
  }),
);

export function webhookBody(row: WebhookRow): Static<typeof Webhook> {
  const { id, url, events, description, disabled_at, disabled_reason, created_at, failing_since } = row;
  return {
    id,
    url,
    events: JSON.parse(events) as string[],
    description,
    enabled: disabled_at === null,
    disabled_reason,
    created_at: timeOf(created_at),
    failing_since: failing_since === null ? null : timeOf(failing_since),
  };
}

export function rotatedBody({ id, secret, previous_secret_until }: WebhookRow): Static<typeof RotatedSecret> {
  return { id, secret, previous_valid_until: timeOf(previous_secret_until ?? 0) };
}

export function deliveryBody(row: DeliveryRow): Static<typeof Delivery> {
  const { id, type, state, attempts, created_at, next_attempt_at, ended_at, last_status, last_error, body } = row;
  return {
    id,
    type,
    state,
    attempts,
    created_at: timeOf(created_at),
    last_status,
    last_error,
    next_attempt_at: state === 'pending' ? timeOf(next_attempt_at) : null,
    ended_at: ended_at === null ? null : timeOf(ended_at),
    payload: JSON.parse(body) as object,
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
