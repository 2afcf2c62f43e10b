/** A job as the API shows it. */
import Type, { type Static } from 'typebox';
import { redact } from '../../log/redact.ts';
import { named } from '../../schema/named.ts';
import { JOB_STATES, type Job } from '../index.ts';

const Time = Type.String({ format: 'date-time' });
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

export const JobState = Type.Enum([...JOB_STATES]);

export const JobView = named(
  'Job',
  Type.Object({
    id: Type.String({ description: 'Sorts by the time of enqueueing.' }),
    kind: Type.String({ description: 'Module and what is done, for example inference.pull.' }),
    state: JobState,
    owner: nullable(Type.String({ description: 'Account that asked for it.' })),
    progress: nullable(
      Type.Object({
        done: Type.Number(),
        total: nullable(Type.Number()),
        unit: nullable(Type.String({ description: 'What is counted, for example bytes.' })),
        message: nullable(Type.String()),
      }),
    ),
    eta_seconds: nullable(Type.Integer({ description: 'Of a running job: until it is done, if it goes on as before.' })),
    attempts: Type.Integer({ description: 'Attempts that failed, and the one that runs or succeeded.' }),
    max_attempts: Type.Integer(),
    cancel_requested: Type.Boolean({ description: 'A running job that was told to stop.' }),
    input: Type.Unknown({ description: 'What the job was given, secrets masked.' }),
    result: Type.Unknown({ description: 'Of a job that is done; null before.' }),
    error: nullable(
      Type.Object(
        { code: Type.String(), detail: Type.String(), remedy: nullable(Type.String()) },
        { description: 'Why it failed; of a queued job, why its last attempt did.' },
      ),
    ),
    run_after: Time,
    created_at: Time,
    started_at: nullable(Time),
    ended_at: nullable(Time),
  }),
);

export type JobView = Static<typeof JobView>;

export function viewOf(job: Job, now = Date.now()): JobView {
  const { id, kind, state, progress, error } = job;
  const { done = 0, total = null, unit = null, message = null, endsAt } = progress ?? {};
  return {
    id,
    kind,
    state,
    owner: job.owner ?? null,
    progress: progress === undefined ? null : { done, total, unit, message },
    eta_seconds: state === 'running' && endsAt !== undefined ? Math.max(0, Math.ceil((endsAt - now) / 1000)) : null,
    attempts: job.attempts,
    max_attempts: job.maxAttempts,
    cancel_requested: job.isCancelRequested,
    input: redact({ input: job.input })['input'],
    result: job.result ?? null,
    error: error === undefined ? null : { code: error.code, detail: error.message, remedy: error.remedy ?? null },
    run_after: timeText(job.runAfter),
    created_at: timeText(job.createdAt),
    started_at: job.startedAt === undefined ? null : timeText(job.startedAt),
    ended_at: job.endedAt === undefined ? null : timeText(job.endedAt),
  };
}

/** A time beyond the range of dates is shown as the end of that range. */
function timeText(time: number): string {
  return new Date(Math.max(-8.64e15, Math.min(8.64e15, time))).toISOString();
}
