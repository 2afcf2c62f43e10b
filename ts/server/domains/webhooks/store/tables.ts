/** The rows of the webhooks module, and the access to them. Times are milliseconds since 1970; flags are 0 or 1. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isSystemScope, type StorageAccess, type StorageScope } from '../../../platform/storage/index.ts';

export interface WebhookSecrets {
  /** `whsec_` and the key in base64. It has to be known for signing, so it is not hashed. */
  secret: string;
  /** The one before, which deliveries are signed with as well until that time; null: there is none. */
  previous_secret: string | null;
  previous_secret_until: number | null;
}

export interface WebhookRow extends WebhookSecrets {
  tenant: string;
  id: string;
  url: string;
  /** A JSON array of names of events. */
  events: string;
  description: string;
  /** Whether it is told of events that concern no tenant. */
  of_node: number;
  created_at: number;
  disabled_at: number | null;
  /** A sentence; null unless the node itself disabled it. */
  disabled_reason: string | null;
  /** When the first of the deliveries failed that have failed ever since. */
  failing_since: number | null;
}

type DeliveryState = 'pending' | 'delivered' | 'failed';

export interface DeliveryRow {
  tenant: string;
  /** The same at every attempt and replay: receivers know a repetition by it. */
  id: string;
  webhook_id: string;
  /** The place of the event in the outbox: an event that comes again makes no second delivery. */
  event_seq: number;
  type: string;
  /** What is sent, byte for byte. */
  body: string;
  state: DeliveryState;
  attempts: number;
  created_at: number;
  /** When trying began, for the end of it: a replay begins anew. */
  tried_since: number;
  next_attempt_at: number;
  /** The node that is sending it, until this time by the database's clock. */
  holder: string | null;
  lease_until: number;
  ended_at: number | null;
  last_status: number | null;
  last_error: string | null;
}

export interface WebhookTables {
  webhooks: WebhookRow;
  webhook_deliveries: DeliveryRow;
}

export type WebhookStorage = StorageAccess<WebhookTables>;

/** The condition that a row belongs to the scope. On SQLite it is the only wall between tenants. */
export function within(scope: StorageScope): RawBuilder<SqlBool> {
  return isSystemScope(scope) ? sql<SqlBool>`1 = 1` : sql<SqlBool>`tenant = ${scope.tenant}`;
}
