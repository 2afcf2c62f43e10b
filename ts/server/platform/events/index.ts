/**
 * Typed events between modules. `publish` tells this process and may be lost with it; what is recorded in the outbox, within the write that
 * caused it, reaches every durable subscriber at least once and in order.
 */
export type { DurableSubscriber, RecordedEvent } from './durable-subscriber.ts';
export type { Subscriber } from './event-bus.ts';
export { type Event, EventType } from './event-type.ts';
export { Events } from './events.ts';
export type { EventsOptions } from './events-options.ts';
export type { EventRow } from './outbox/event-tables.ts';
export { eventsMigrations } from './outbox/migrations.ts';
export { recordEvent } from './record-event.ts';
