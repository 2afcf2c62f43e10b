/** Events of the comm module. */
import Type from 'typebox';
import { EventType } from '../../platform/events/index.ts';

export const messageNotSent = new EventType(
  'comm.message_not_sent',
  Type.Object({
    message_id: Type.String(),
    account_id: Type.String(),
    state: Type.Enum(['failed', 'outcome_unknown']),
    reason: Type.String(),
  }),
);
