/** Who must get every recorded event, whatever happens to the process. */
import type { Event, EventType } from './event-type.ts';

/** An event from the outbox. `EventType.is` tells its type. */
export interface RecordedEvent extends Event {
  /** Counted by the database: the same event, delivered again, has the same one. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly recordedAt: number;
}

export interface DurableSubscriber {
  /** Stays the same over versions: the place in the sequence of events is kept under it. */
  readonly name: string;
  /** Other types are passed over. */
  readonly types: readonly EventType[];
  /**
   * Called with one event at a time, in the order of the outbox, on one node of the database. When it throws or takes longer than 30 s, the
   * same event comes again later, and none after it before. An event may come twice, after a crash.
   */
  deliver(event: RecordedEvent, signal: AbortSignal): Promise<void>;
}
