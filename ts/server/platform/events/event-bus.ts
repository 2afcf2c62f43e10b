/** Events within this process: for what may be lost with it, such as telling a cache that it is stale. */
import type { Static, TSchema } from 'typebox';
import type { Log } from '../log/log.ts';
import { isSystemScope, type StorageScope } from '../storage/index.ts';
import type { Event, EventType } from './event-type.ts';

export type Subscriber<Payload> = (event: Event<Payload>) => void | Promise<void>;

export class EventBus {
  readonly #log: Log;
  readonly #subscribers = new Map<string, Set<Subscriber<never>>>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Returns the way to unsubscribe. */
  subscribe<Schema extends TSchema>(type: EventType<Schema>, subscriber: Subscriber<Static<Schema>>): () => void {
    const subscribers = this.#subscribers.get(type.name) ?? new Set();
    this.#subscribers.set(type.name, subscribers.add(subscriber));
    return () => subscribers.delete(subscriber);
  }

  /** Calls each subscriber before it returns, and waits for none. What a subscriber throws is logged. */
  publish<Schema extends TSchema>(scope: StorageScope, type: EventType<Schema>, payload: Static<Schema>): void {
    type.require(payload);
    const event = { type: type.name, tenant: isSystemScope(scope) ? undefined : scope.tenant, payload };
    for (const subscriber of [...(this.#subscribers.get(type.name) ?? [])])
      this.#deliver(event, subscriber as Subscriber<unknown>);
  }

  #deliver(event: Event, subscriber: Subscriber<unknown>): void {
    const onError = (error: unknown) => this.#log.error('a subscriber failed', { event: event.type, error });
    try {
      subscriber(event)?.catch(onError);
    } catch (error) {
      onError(error);
    }
  }
}
