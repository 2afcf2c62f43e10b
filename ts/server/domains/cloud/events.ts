/** The events that the cloud module tells other modules, through the outbox. */
import Type from 'typebox';
import { EventType } from '../../platform/events/index.ts';

export const backendUnhealthy = new EventType(
  'cloud.backend-unhealthy',
  Type.Object({ backend: Type.String(), code: Type.String(), status: Type.Optional(Type.Integer()), detail: Type.String() }),
);
