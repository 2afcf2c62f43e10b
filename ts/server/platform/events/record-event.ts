/** Records an event where only the transaction is at hand, and not the `Events` of the node: subscribers find it when they look next. */
import type { Compilable, Kysely } from 'kysely';
import type { Static, TSchema } from 'typebox';
import type { StorageScope } from '../storage/index.ts';
import type { EventType } from './event-type.ts';
import { recordQuery } from './outbox/outbox-store.ts';

/** Like `Events.record`, without waking the subscribers of this process. Throws a TypeError for a payload that is not of the type. */
export function recordEvent<Tables, Schema extends TSchema>(
  db: Kysely<Tables>,
  scope: StorageScope,
  type: EventType<Schema>,
  payload: Static<Schema>,
  now: number,
): Compilable & { execute(): Promise<unknown> } {
  type.require(payload);
  return recordQuery(db, scope, type.name, JSON.stringify(payload), now);
}
