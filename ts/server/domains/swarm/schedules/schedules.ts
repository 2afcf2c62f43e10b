/** Schedules as their owners use them: made, changed, removed, and run beside their times. */
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import { newTimeOrderedId } from '../../../platform/time-ordered-id.ts';
import { ownerOf } from '../../conversations/index.ts';
import type { IdentityApi } from '../../identity/index.ts';
import { swarmError } from '../errors.ts';
import type { Budget, Goal } from '../goal.ts';
import type { Goals } from '../goals.ts';
import type { FireStore } from './fire-store.ts';
import { type Fire, nextTime, requireTimes, type Schedule } from './schedule.ts';
import type { ScheduleStore } from './schedule-store.ts';

interface SchedulesDeps {
  readonly store: ScheduleStore;
  readonly fires: FireStore;
  readonly goals: Pick<Goals, 'draft' | 'enqueue' | 'toolsOf'>;
  readonly delegations: IdentityApi['delegations'];
  now(): number;
}

/** The members that a caller gives; one of `goal` and `prompt` is among them. */
export interface GivenSchedule {
  readonly name?: string | undefined;
  readonly cron?: string | undefined;
  readonly timezone?: string | undefined;
  readonly goal?: string | undefined;
  readonly prompt?: string | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly budget?: Partial<Budget> | undefined;
  readonly overlap?: Schedule['overlap'] | undefined;
  readonly catchUp?: Schedule['catchUp'] | undefined;
  readonly isEnabled?: boolean | undefined;
}

type ShownSchedule = { readonly schedule: Schedule; readonly lastFire: Fire | undefined };

const MOST_OF_OWNER = 100;

export class Schedules {
  readonly #deps: SchedulesDeps;

  constructor(deps: SchedulesDeps) {
    this.#deps = deps;
  }

  /** Throws `invalid_request` for a member that does not fit, and `schedule_limit` for an owner who has as many as may be. */
  async create(caller: Principal, given: GivenSchedule & { name: string; cron: string }): Promise<Schedule> {
    const { store, now } = this.#deps;
    const scope = scopeOf(caller);
    const owner = ownerOf(caller).subject;
    const has = await store.list(scope, { owner, after: '', limit: MOST_OF_OWNER });
    if (has.length >= MOST_OF_OWNER)
      throw swarmError('schedule_limit', `You have ${MOST_OF_OWNER} schedules, which is the most.`);
    const at = now();
    const { cron, timezone = 'UTC', isEnabled = true } = given;
    requireTimes({ cron, timezone }, at);
    const tools = await this.#deps.goals.toolsOf(caller, given.tools);
    const made: Schedule = {
      tenant: caller.tenant,
      id: `sch_${newTimeOrderedId(at)}`,
      owner,
      name: given.name,
      cron,
      timezone,
      ...textOf(given),
      tools,
      budget: given.budget ?? {},
      overlap: given.overlap ?? 'skip',
      catchUp: given.catchUp ?? 'none',
      isEnabled,
      delegation: this.#deps.delegations.of(caller, { tools }),
      failures: 0,
      paused: undefined,
      nextAt: isEnabled ? nextTime({ cron, timezone }, at) : undefined,
      plannedAt: at,
      createdAt: at,
      updatedAt: at,
    };
    await store.insert(scope, made);
    return made;
  }

  async list(caller: Principal, page: { after: string; limit: number }): Promise<(ShownSchedule & { id: string })[]> {
    const { store, fires } = this.#deps;
    const scope = scopeOf(caller);
    const schedules = await store.list(scope, { ...page, owner: ownerOf(caller).subject });
    const last = await fires.lastFires(
      scope,
      schedules.map(({ id }) => id),
    );
    return schedules.map((schedule) => ({ id: schedule.id, schedule, lastFire: last.get(schedule.id) }));
  }

  /** It works with the rights of whoever changed it last; to disable one, none are needed. Throws `schedule_not_found` and what `create` does. */
  async update(caller: Principal, id: string, given: GivenSchedule): Promise<ShownSchedule> {
    const { store, fires, delegations, goals, now } = this.#deps;
    const scope = scopeOf(caller);
    const before = await this.#get(caller, id);
    const isDisabling = given.isEnabled === false && Object.values(given).filter((member) => member !== undefined).length === 1;
    const at = now();
    const { name, cron, timezone, overlap, catchUp, isEnabled } = { ...before, ...withoutGaps(given) };
    requireTimes({ cron, timezone }, at);
    const tools = isDisabling ? before.tools : await goals.toolsOf(caller, given.tools ?? before.tools);
    const changed: Schedule = {
      ...before,
      name,
      cron,
      timezone,
      ...(given.goal !== undefined || given.prompt !== undefined ? textOf(given) : { kind: before.kind, text: before.text }),
      tools,
      budget: given.budget ?? before.budget,
      overlap,
      catchUp,
      isEnabled,
      delegation: isDisabling ? before.delegation : delegations.of(caller, { tools }),
      failures: given.isEnabled === true ? 0 : before.failures,
      paused: given.isEnabled === true ? undefined : before.paused,
      nextAt: isEnabled ? nextTime({ cron, timezone }, at) : undefined,
      plannedAt: at,
      updatedAt: at,
    };
    if (!(await store.update(scope, changed))) throw notFound(id);
    return { schedule: changed, lastFire: (await fires.lastFires(scope, [id])).get(id) };
  }

  async remove(caller: Principal, id: string): Promise<void> {
    await this.#get(caller, id);
    await this.#deps.store.remove(scopeOf(caller), id);
  }

  /** Sets its goal at once, whatever of it is under way. Throws what the goal would be refused with. */
  async run(caller: Principal, id: string): Promise<Goal> {
    const { fires, goals, delegations } = this.#deps;
    const schedule = await this.#get(caller, id);
    const goal = await draftGoal(schedule, { goals, delegations });
    await fires.startNow(schedule, goal);
    await goals.enqueue(goal);
    return goal;
  }

  async #get(caller: Principal, id: string): Promise<Schedule> {
    const schedule = await this.#deps.store.find(scopeOf(caller), id);
    if (schedule?.owner !== ownerOf(caller).subject) throw notFound(id);
    return schedule;
  }
}

/** The goal of a schedule, with the rights of its owner as they are now. Throws what it is refused with. */
export async function draftGoal(
  { delegation, kind, text, tools, budget }: Schedule,
  { goals, delegations }: Pick<SchedulesDeps, 'goals' | 'delegations'>,
): Promise<Goal> {
  const caller = await delegations.principalOf(delegation);
  if (caller === undefined)
    throw swarmError('delegation_over', 'The account or the credential that the schedule was made with is there no more.');
  return await goals.draft(caller, {
    goal: text,
    isPrompt: kind === 'prompt',
    swarmId: undefined,
    tools,
    budget,
    until: 'execute',
  });
}

function textOf({ goal, prompt }: GivenSchedule): Pick<Schedule, 'kind' | 'text'> {
  if ((goal === undefined) === (prompt === undefined))
    throw swarmError('invalid_request', 'Say what the schedule is for: a goal, which is planned, or a prompt, and not both.', {
      param: goal === undefined ? 'goal' : 'prompt',
    });
  return goal === undefined ? { kind: 'prompt', text: prompt ?? '' } : { kind: 'goal', text: goal };
}

/** The members that were given. */
function withoutGaps(given: GivenSchedule): { [Member in keyof GivenSchedule]?: NonNullable<GivenSchedule[Member]> } {
  return Object.fromEntries(Object.entries(given).filter(([, member]) => member !== undefined));
}

function notFound(id: string) {
  return swarmError('schedule_not_found', `There is no schedule ${id.slice(0, 64)} of yours.`);
}
