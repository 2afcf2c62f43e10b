/** Events of the iot module. */
import Type from 'typebox';
import { EventType } from '../../platform/events/index.ts';

export const readingBad = new EventType(
  'iot.reading_bad',
  Type.Object({ device_id: Type.String(), device: Type.String(), variable: Type.String(), reason: Type.String() }),
);
