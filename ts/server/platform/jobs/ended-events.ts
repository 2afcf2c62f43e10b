/** What other modules are told when a job has ended by itself, through the outbox. */
import Type from 'typebox';
import { EventType } from '../events/event-type.ts';

const Nullable = Type.Union([Type.String(), Type.Null()]);

export const jobDone = new EventType('jobs.done', Type.Object({ id: Type.String(), kind: Type.String(), owner: Nullable }));
export const jobFailed = new EventType(
  'jobs.failed',
  Type.Object({ id: Type.String(), kind: Type.String(), owner: Nullable, code: Type.String() }),
);
