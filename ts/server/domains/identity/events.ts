/** What identity tells other modules, through the outbox: recorded in the transaction of what happened. */
import Type from 'typebox';
import { EventType } from '../../platform/events/index.ts';

const Text = Type.String();
const Changed = Type.Object({ id: Text, actor: Text, detail: Type.Object({}, { additionalProperties: true }) });
const Denied = Type.Object({ actor: Text, action: Text, target: Text, remote_address: Text, request_id: Text });

export const keyCreated = new EventType('identity.key-created', Changed);
export const keyRevoked = new EventType('identity.key-revoked', Changed);
export const userCreated = new EventType('identity.user-created', Changed);
export const userDeleted = new EventType('identity.user-deleted', Changed);
export const tenantDeleted = new EventType('identity.tenant-deleted', Changed);
export const accessDenied = new EventType('identity.access-denied', Denied);
