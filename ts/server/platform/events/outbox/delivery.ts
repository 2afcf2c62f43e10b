/** Delivers recorded events to one durable subscriber, on the node that holds it. */
import { type BackoffRange, backoffMs } from '../../backoff.ts';
import { linkSignals } from '../../linked-signal.ts';
import type { Log } from '../../log/log.ts';
import { Repeater } from '../../repeater.ts';
import type { DurableSubscriber, RecordedEvent } from '../durable-subscriber.ts';
import type { EventMetrics } from '../event-metrics.ts';
import type { Cursor, PlacedEvent } from './event-tables.ts';
import type { OutboxStore } from './outbox-store.ts';
import type { SubscriberStore } from './subscriber-store.ts';

const EVENTS_AT_ONCE = 100;

export interface DeliveryParts {
  readonly outbox: OutboxStore;
  readonly subscribers: SubscriberStore;
  readonly log: Log;
  readonly metrics: EventMetrics;
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly retryMs: BackoffRange;
  nodeId(): string;
  now(): number;
}

export class Delivery {
  readonly #subscriber: DurableSubscriber;
  readonly #parts: DeliveryParts;
  readonly #types: ReadonlySet<string>;
  readonly #repeater: Repeater;
  #stopped = new AbortController();
  #failures = 0;
  /** By the clock of `now()`: when the event that failed is tried again. */
  #retryAt = 0;

  constructor(subscriber: DurableSubscriber, parts: DeliveryParts) {
    this.#subscriber = subscriber;
    this.#parts = parts;
    this.#types = new Set(subscriber.types.map(({ name }) => name));
    const onError = (error: unknown) =>
      parts.log.warn('events were not delivered', { subscriber: subscriber.name, error: String(error) });
    this.#repeater = new Repeater({ intervalMs: parts.pollMs, run: () => this.#deliverAll(), onError });
  }

  get name(): string {
    return this.#subscriber.name;
  }

  start(): void {
    this.#stopped = new AbortController();
    this.#repeater.start();
  }

  wake(): void {
    this.#repeater.wake();
  }

  /** Aborts the delivery that is under way; it comes again. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#repeater.stop();
    const { subscribers, log, nodeId } = this.#parts;
    await subscribers.release(this.name, nodeId()).catch((error: unknown) => {
      log.warn('a subscriber was not released; another node takes it over later', {
        subscriber: this.name,
        error: String(error),
      });
    });
  }

  /** Looks before it writes: a poll that finds nothing costs two reads. */
  async #deliverAll(): Promise<void> {
    const { outbox, subscribers, metrics, leaseMs, nodeId, now } = this.#parts;
    if (now() < this.#retryAt) return;
    await outbox.order();
    const seen = await subscribers.cursor(this.name);
    const [first] = seen === undefined ? [] : await outbox.listAfter(seen, 1);
    metrics.setLag(this.name, first === undefined ? 0 : now() - first.event.recordedAt);
    if (first === undefined) return;
    let cursor = await subscribers.acquire(this.name, nodeId(), leaseMs);
    while (cursor !== undefined && !this.#stopped.signal.aborted) {
      const events = await outbox.listAfter(cursor, EVENTS_AT_ONCE);
      if (events.length === 0 || !(await this.#deliverEach(events))) return;
      cursor = events.at(-1)?.cursor;
    }
  }

  /** False when it cannot go on: an event failed, the lease is lost, or delivery was stopped. */
  async #deliverEach(events: readonly PlacedEvent[]): Promise<boolean> {
    let passedOver: Cursor | undefined;
    for (const { event, cursor } of events) {
      const isWanted = this.#types.has(event.type);
      if (isWanted && (this.#stopped.signal.aborted || !(await this.#deliver(event)))) {
        if (passedOver !== undefined) await this.#advance(passedOver);
        return false;
      }
      passedOver = isWanted ? undefined : cursor;
      if (isWanted && !(await this.#advance(cursor))) return false;
    }
    return passedOver === undefined || (await this.#advance(passedOver));
  }

  async #advance(cursor: Cursor): Promise<boolean> {
    const { subscribers, nodeId, leaseMs } = this.#parts;
    return await subscribers.advance(this.name, nodeId(), cursor, leaseMs);
  }

  async #deliver(event: RecordedEvent): Promise<boolean> {
    const { log, metrics, leaseMs, retryMs, now } = this.#parts;
    // Half of the lease, so that it is not over while the subscriber works.
    const { signal, unlink } = linkSignals(AbortSignal.timeout(leaseMs / 2), this.#stopped.signal);
    try {
      await Promise.race([this.#subscriber.deliver(event, signal), rejectOn(signal)]);
      this.#failures = 0;
      metrics.delivered(this.name, 'ok');
      return true;
    } catch (error) {
      if (this.#stopped.signal.aborted) return false;
      this.#failures += 1;
      this.#retryAt = now() + backoffMs(this.#failures, retryMs);
      metrics.delivered(this.name, 'failed');
      const { seq, type } = event;
      log.warn('an event was not delivered and will come again', {
        subscriber: this.name,
        seq,
        type,
        tries: this.#failures,
        error,
      });
      return false;
    } finally {
      unlink();
    }
  }
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
