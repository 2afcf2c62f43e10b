/** Events of agents. Those of goals and schedules are recorded by the module swarm, which webhooks do not see from their tier. */
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

/** The result is shown to its owner, and not sent around. */
export const goalEnded = new EventType(
  'goal.ended',
  Type.Object({ id: Type.String(), state: Type.String(), owner: Type.String(), error: Type.Union([Type.String(), Type.Null()]) }),
);

export const schedulePaused = new EventType(
  'schedule.paused',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    owner: Type.String(),
    failures: Type.Integer(),
    error: Type.String({ description: 'The code of the last failure.' }),
  }),
);
