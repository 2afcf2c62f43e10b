/** Schedules over HTTP. */
import Type, { type Static } from 'typebox';
import { listOf, PageQuery, page, pageRead } from '../../../platform/http/page.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { named } from '../../../platform/schema/named.ts';
import { swarmErrors } from '../errors.ts';
import { budgetOf, ErrorShape, GoalShape, goalBody, Id, SetBudget, Time, Tools } from '../schemas.ts';
import { CATCH_UPS, FIRE_STATES, type Fire, OVERLAPS, type Schedule } from './schedule.ts';
import type { GivenSchedule, Schedules } from './schedules.ts';

const SCHEDULES = '/api/v1/agent/schedules';

const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });
const Text = Type.String({ minLength: 1, maxLength: 20_000, pattern: '\\S' });
const members = {
  cron: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^[\\x20-\\x7e]*\\S[\\x20-\\x7e]*$',
    description: 'Minute, hour, day, month and weekday: `0 9 * * 1-5` is nine in the morning on working days.',
  }),
  timezone: Type.String({
    pattern: '^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$',
    maxLength: 64,
    default: 'UTC',
    description:
      'Of the IANA database. A time that a change of summer time leaves out comes right behind it; one that it brings twice comes once.',
  }),
  tools: Tools,
  budget: SetBudget,
  overlap: Type.Enum([...OVERLAPS], {
    default: 'skip',
    description: 'A time that comes while the goal of another one is under way is left out, waits for it, or begins beside it.',
  }),
  catch_up: Type.Enum([...CATCH_UPS], {
    default: 'none',
    description: 'Of times that came while no node ran, none is made up for, or the last one, or each of the last hundred.',
  }),
  enabled: Type.Boolean({ default: true }),
};
const Given = Type.Partial(Type.Object({ goal: Text, prompt: Text, ...members }));
const MakeSchedule = named(
  'MakeSchedule',
  Type.Object({ ...Given.properties, name: Name, cron: members.cron }, { additionalProperties: false }),
);
const ChangeSchedule = named(
  'ChangeSchedule',
  Type.Object({ ...Given.properties, name: Type.Optional(Name) }, { additionalProperties: false }),
);
const ScheduleShape = named(
  'Schedule',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    goal: Type.Optional(Type.String({ description: 'What is planned and reached each time.' })),
    prompt: Type.Optional(Type.String({ description: 'What is asked each time: one step, without a plan.' })),
    ...members,
    failures: Type.Integer({ description: 'Since the last success; behind the fifth it is paused.' }),
    paused: Type.Optional(ErrorShape),
    next_at: Type.Union([Time, Type.Null()]),
    last_fire: Type.Optional(
      Type.Object({
        due_at: Time,
        state: Type.Enum([...FIRE_STATES]),
        goal_id: Type.Optional(Type.String()),
        error: Type.Optional(ErrorShape),
      }),
    ),
    created_at: Time,
    updated_at: Time,
  }),
);

const { get, post, patch, del } = routes({
  tag: 'Schedules',
  auth: 'viewer',
  scope: 'goals:use',
  maxBody: 256 * 1024,
  errors: swarmErrors,
});

export function scheduleRoutes(schedules: Schedules): Route[] {
  return [
    get(SCHEDULES, {
      summary: 'Your schedules',
      query: PageQuery,
      answer: listOf(ScheduleShape),
      handle: async ({ caller, query }) =>
        page(await schedules.list(caller, pageRead(query)), query.limit, ({ schedule, lastFire }) =>
          scheduleBody(schedule, lastFire),
        ),
    }),
    post(SCHEDULES, {
      summary: 'Make a schedule: a goal, or a prompt, again and again',
      description:
        'Each time of the pattern sets a goal with the rights that you have then. Behind five failures in a row the schedule is paused; `enabled` lets it go on.',
      body: MakeSchedule,
      answer: ScheduleShape,
      status: 201,
      errors: ['invalid_request', 'schedule_limit', 'forbidden', 'insufficient_scope'],
      handle: async ({ caller, body }) =>
        scheduleBody(await schedules.create(caller, { ...givenOf(body), name: body.name, cron: body.cron }), undefined),
    }),
    patch(`${SCHEDULES}/{id}`, {
      summary: 'Change a schedule; from then on it works with the rights of this caller',
      params: Id,
      body: ChangeSchedule,
      answer: ScheduleShape,
      errors: ['schedule_not_found', 'invalid_request', 'forbidden', 'insufficient_scope'],
      handle: async ({ caller, params, body }) => {
        const { schedule, lastFire } = await schedules.update(caller, params.id, givenOf(body));
        return scheduleBody(schedule, lastFire);
      },
    }),
    del(`${SCHEDULES}/{id}`, {
      summary: 'Remove a schedule; its goals go on',
      params: Id,
      errors: ['schedule_not_found'],
      handle: async ({ caller, params }) => await schedules.remove(caller, params.id),
    }),
    post(`${SCHEDULES}/{id}/run`, {
      summary: 'Set the goal of a schedule now, whatever of it is under way',
      params: Id,
      answer: GoalShape,
      status: 201,
      errors: ['schedule_not_found', 'invalid_request', 'delegation_over', 'forbidden', 'insufficient_scope'],
      handle: async ({ caller, params }) => goalBody(await schedules.run(caller, params.id), []),
    }),
  ];
}

function givenOf({ budget, catch_up: catchUp, enabled: isEnabled, ...given }: Static<typeof ChangeSchedule>): GivenSchedule {
  return { ...given, budget: budget === undefined ? undefined : budgetOf(budget), catchUp, isEnabled };
}

function scheduleBody(schedule: Schedule, lastFire: Fire | undefined): Static<typeof ScheduleShape> {
  const { id, name, kind, text, cron, timezone, overlap, failures, paused, nextAt } = schedule;
  return {
    id,
    name,
    [kind]: text,
    cron,
    timezone,
    tools: [...schedule.tools],
    budget: schedule.budget,
    overlap,
    catch_up: schedule.catchUp,
    enabled: schedule.isEnabled,
    failures,
    ...(paused !== undefined && { paused }),
    next_at: nextAt === undefined ? null : timeText(nextAt),
    ...(lastFire !== undefined && { last_fire: fireBody(lastFire) }),
    created_at: timeText(schedule.createdAt),
    updated_at: timeText(schedule.updatedAt),
  };
}

function fireBody({ dueAt, state, goal, error }: Fire) {
  return {
    due_at: timeText(dueAt),
    state,
    ...(goal !== undefined && { goal_id: goal }),
    ...(error !== undefined && { error }),
  };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
