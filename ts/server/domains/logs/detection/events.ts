/** Events that detection tells other modules, through the outbox. Addresses and names are left to whoever asks for the incident. */
import Type from 'typebox';
import { EventType } from '../../../platform/events/index.ts';

const Told = Type.Object({ id: Type.String(), rule: Type.String(), severity: Type.String(), author: Type.String() });

export const incidentOpened = new EventType('logs.incident-opened', Told);
export const incidentChanged = new EventType(
  'logs.incident-changed',
  Type.Object({ id: Type.String(), state: Type.String(), verdict: Type.Union([Type.String(), Type.Null()]) }),
);
