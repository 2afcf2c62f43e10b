/** Events of the edge module. */
import Type from 'typebox';
import { EventType } from '../../platform/events/index.ts';

/** The arguments are shown to those who may decide, and not sent around. */
export const approvalRequested = new EventType(
  'approval.requested',
  Type.Object({
    id: Type.String(),
    tool: Type.String(),
    effect: Type.String(),
    owner: Type.String(),
    expires_at: Type.String(),
  }),
);
