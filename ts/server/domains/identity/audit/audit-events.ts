/** Which lines of the audit log other modules are told of, and as what. */
import type { Compilable, Kysely } from 'kysely';
import { type EventType, recordEvent } from '../../../platform/events/index.ts';
import { tenantScope } from '../../../platform/storage/index.ts';
import * as events from '../events.ts';
import type { AuditEntry } from './audit-entry.ts';

const OF_ACTION: Readonly<Record<string, EventType>> = {
  'key.create': events.keyCreated,
  'key.rotate': events.keyCreated,
  'key.revoke': events.keyRevoked,
  'user.create': events.userCreated,
  'user.register': events.userCreated,
  'user.delete': events.userDeleted,
  'tenant.delete': events.tenantDeleted,
};

interface Told {
  type: EventType;
  payload: object;
}

/** Statements for the transaction of the entries: an event is there when its line is. */
export function eventsOf<Tables>(
  tx: Kysely<Tables>,
  entries: readonly AuditEntry[],
): (Compilable & { execute(): Promise<unknown> })[] {
  return entries.flatMap((entry) =>
    toldOf(entry).map(({ type, payload }) => recordEvent(tx, tenantScope(entry.tenant), type, payload, entry.at)),
  );
}

function toldOf(entry: AuditEntry): Told[] {
  const { outcome, actor, action, target, detail, remoteAddress, requestId } = entry;
  if (outcome === 'denied') {
    // Strangers can be denied as often as they like.
    if (actor === 'anonymous') return [];
    return [
      { type: events.accessDenied, payload: { actor, action, target, remote_address: remoteAddress, request_id: requestId } },
    ];
  }
  const type = Object.hasOwn(OF_ACTION, action) ? OF_ACTION[action] : undefined;
  if (outcome !== 'done' || type === undefined) return [];
  const told = [{ type, payload: { id: target, actor, detail } }];
  const replaced = action === 'key.rotate' ? detail['replaces'] : undefined;
  if (typeof replaced !== 'string') return told;
  return [...told, { type: events.keyRevoked, payload: { id: replaced, actor, detail: { replaced_by: target } } }];
}
