/** The events of all modules: those of the process, and those that the database keeps until every durable subscriber has them. */
import type { Compilable, Kysely } from 'kysely';
import type { Static, TSchema } from 'typebox';
import { Repeater } from '../repeater.ts';
import { type StorageScope, systemScope } from '../storage/index.ts';
import type { DurableSubscriber } from './durable-subscriber.ts';
import { EventBus, type Subscriber } from './event-bus.ts';
import { EventMetrics } from './event-metrics.ts';
import type { EventType } from './event-type.ts';
import { type EventsOptions, type ResolvedEventsOptions, resolveEventsOptions } from './events-options.ts';
import { Delivery, type DeliveryParts } from './outbox/delivery.ts';
import type { EventTables } from './outbox/event-tables.ts';
import { OutboxStore, recordQuery } from './outbox/outbox-store.ts';
import { SubscriberStore } from './outbox/subscriber-store.ts';

const UPKEEP_MS = 60_000;
/** Most writes have committed so long after their statements were built; the others are found by polling. */
const COMMIT_MS = 20;
/** A subscriber that no node had for so long was removed from the program. */
const FORGET_MS = 30 * 24 * 3_600_000;
const NAME = /^[a-z][a-z0-9_.-]{0,99}$/;

export class Events {
  readonly #options: ResolvedEventsOptions;
  readonly #bus: EventBus;
  readonly #outbox: OutboxStore;
  readonly #subscribers: SubscriberStore;
  readonly #deliveries = new Map<string, Delivery>();
  readonly #deliveryParts: DeliveryParts;
  readonly #upkeep: Repeater;
  #isRunning = false;
  #wakeTimer: NodeJS.Timeout | undefined;

  constructor(options: EventsOptions) {
    this.#options = resolveEventsOptions(options);
    const { storage, log, metrics } = this.#options;
    this.#bus = new EventBus(log);
    this.#outbox = new OutboxStore(storage.access<EventTables>());
    this.#subscribers = new SubscriberStore(storage.access<EventTables>());
    const stores = { outbox: this.#outbox, subscribers: this.#subscribers };
    this.#deliveryParts = { ...this.#options, ...stores, metrics: new EventMetrics(metrics) };
    const onError = (error: unknown) => log.warn('events: upkeep failed', { error: String(error) });
    this.#upkeep = new Repeater({ intervalMs: UPKEEP_MS, run: () => this.#keepUp(), onError });
  }

  /** Hears of what `publish()` tells in this process. Returns the way to unsubscribe. */
  subscribe<Schema extends TSchema>(type: EventType<Schema>, subscriber: Subscriber<Static<Schema>>): () => void {
    return this.#bus.subscribe(type, subscriber);
  }

  /** Tells the subscribers in this process, now. They cannot make it fail. */
  publish<Schema extends TSchema>(scope: StorageScope, type: EventType<Schema>, payload: Static<Schema>): void {
    this.#bus.publish(scope, type, payload);
  }

  /** Declares a subscriber that gets every recorded event of its types from its first start on. Before `start()`; does no I/O. */
  subscribeDurably(subscriber: DurableSubscriber): void {
    const { name } = subscriber;
    if (!NAME.test(name)) throw new Error(`${JSON.stringify(name)} is no name of a subscriber`);
    if (this.#deliveries.has(name)) throw new Error(`the subscriber ${name} is declared twice`);
    if (this.#isRunning) throw new Error(`the subscriber ${name} is declared after the start`);
    this.#deliveries.set(name, new Delivery(subscriber, this.#deliveryParts));
  }

  /**
   * The statement that records an event in a write of the caller's, to which it then belongs: both are there or neither. For `writeUnit` it
   * stands among the others; in `write` it is executed.
   */
  record<Tables, Schema extends TSchema>(
    db: Kysely<Tables>,
    scope: StorageScope,
    type: EventType<Schema>,
    payload: Static<Schema>,
  ): Compilable & { execute(): Promise<unknown> } {
    type.require(payload);
    this.#wakeTimer ??= setTimeout(() => this.#wake(), COMMIT_MS).unref();
    return recordQuery(db, scope, type.name, JSON.stringify(payload), this.#options.now());
  }

  /** Records an event in a write of its own. Throws StorageError. */
  async send<Schema extends TSchema>(scope: StorageScope, type: EventType<Schema>, payload: Static<Schema>): Promise<void> {
    type.require(payload);
    await this.#outbox.record(scope, type.name, JSON.stringify(payload), this.#options.now());
    this.#wake();
  }

  /** Records an event that concerns the node and no tenant, in a write of its own. Rejects with a StorageError. */
  async sendOfNode<Schema extends TSchema>(type: EventType<Schema>, payload: Static<Schema>): Promise<void> {
    await this.send(systemScope(), type, payload);
  }

  /** After storage is open and durable subscribers are declared. Throws StorageError. */
  async start(): Promise<void> {
    if (this.#isRunning) return;
    await this.#registerAll();
    this.#isRunning = true;
    for (const delivery of this.#deliveries.values()) delivery.start();
    this.#upkeep.start();
  }

  /** Deliveries that are under way are aborted and come again. Idempotent. */
  async stop(): Promise<void> {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    await Promise.all([this.#upkeep.stop(), ...[...this.#deliveries.values()].map((delivery) => delivery.stop())]);
  }

  async #registerAll(): Promise<void> {
    for (const name of this.#deliveries.keys()) await this.#subscribers.register(name, this.#options.now());
  }

  #wake(): void {
    clearTimeout(this.#wakeTimer);
    this.#wakeTimer = undefined;
    for (const delivery of this.#deliveries.values()) delivery.wake();
  }

  async #keepUp(): Promise<void> {
    const { log, now, retentionMs } = this.#options;
    await this.#registerAll();
    for (const name of await this.#subscribers.forget(now() - FORGET_MS))
      log.warn('a subscriber that no node has any more was forgotten', { subscriber: name });
    await this.#outbox.order();
    await this.#outbox.deleteDelivered(now() - retentionMs);
  }
}
