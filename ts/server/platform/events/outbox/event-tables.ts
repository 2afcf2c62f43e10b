import type { Generated } from 'kysely';
import type { RecordedEvent } from '../durable-subscriber.ts';

export interface EventRow {
  /** Empty for what concerns no tenant, which no tenant's id is. */
  tenant: string;
  /** In the order of writing; on PostgreSQL a smaller one may become visible later than a greater one. */
  seq: Generated<number>;
  type: string;
  payload: string;
  recorded_at: number;
  /**
   * Null until the event has a place in the order of delivery, which is that of batch and seq: a batch is what was visible when it was
   * made, and batches are made one after the other.
   */
  batch: number | null;
}

/** A place in the order of delivery. */
export interface Cursor {
  readonly batch: number;
  readonly seq: number;
}

export interface SubscriberRow {
  name: string;
  cursor_batch: number;
  cursor_seq: number;
  /** The node that delivers to it. */
  holder: string | null;
  /** By the database's clock. */
  lease_until: number;
  seen_at: number;
}

export interface EventTables {
  events: EventRow;
  event_batches: { name: string; last: number };
  event_subscribers: SubscriberRow;
}

export interface PlacedEvent {
  readonly cursor: Cursor;
  readonly event: RecordedEvent;
}
