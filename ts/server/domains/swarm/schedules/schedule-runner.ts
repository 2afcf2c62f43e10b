/** Lets the times of schedules come: writes their fires, starts each once, and sees what became of its goal. Every node does it, and the rows say which one did. */
import { DomainError } from '../../../platform/errors/domain-error.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { SystemScope } from '../../../platform/storage/index.ts';
import type { IdentityApi } from '../../identity/index.ts';
import type { GoalError, GoalState } from '../goal.ts';
import type { Goals } from '../goals.ts';
import type { FireStore } from './fire-store.ts';
import { type Fire, nextTime, type Schedule, timesDue } from './schedule.ts';
import type { ScheduleStore } from './schedule-store.ts';
import { draftGoal } from './schedules.ts';

interface ScheduleRunnerDeps {
  readonly store: ScheduleStore;
  readonly fires: FireStore;
  readonly goals: Pick<Goals, 'draft' | 'enqueue' | 'toolsOf'>;
  readonly delegations: IdentityApi['delegations'];
  readonly log: Log;
  now(): number;
}

const MAX_LOOKED_AT = 200;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Rows of fires are kept for so long: a clock that is set back further lets times come again. */
const KEEP_MS = 90 * DAY_MS;

export class ScheduleRunner {
  readonly #deps: ScheduleRunnerDeps;
  #cleanedAt = 0;

  constructor(deps: ScheduleRunnerDeps) {
    this.#deps = deps;
  }

  /** Whatever one schedule fails with is logged, and the others go on. */
  async look(everyone: SystemScope): Promise<void> {
    const { store, fires } = this.#deps;
    for (const fire of await fires.listEnded(everyone, MAX_LOOKED_AT))
      await this.#guarded(fire, () => fires.end(fire, { from: 'started', ...outcomeOf(fire.goalState, fire.goalError) }));
    for (const schedule of await store.listDue(everyone, MAX_LOOKED_AT))
      await this.#guarded({ schedule: schedule.id }, () => this.#plan(schedule));
    const begun = new Set<string>();
    for (const { fire, schedule } of await fires.listWaiting(everyone, MAX_LOOKED_AT)) {
      if (schedule.overlap === 'queue' && begun.has(schedule.id)) continue;
      begun.add(schedule.id);
      await this.#guarded(fire, () => this.#start(fire, schedule));
    }
    await this.#clean(everyone);
  }

  async #plan(schedule: Schedule): Promise<void> {
    const now = this.#deps.now();
    const due = timesDue(schedule, schedule.nextAt ?? now, now);
    await this.#deps.fires.plan(schedule, due, nextTime(schedule, now));
  }

  async #start(fire: Fire, schedule: Schedule): Promise<void> {
    const { fires, goals } = this.#deps;
    if (!schedule.isEnabled) return await fires.end(fire, { from: 'due', state: 'skipped' });
    try {
      const goal = await draftGoal(schedule, this.#deps);
      // A goal whose job is lost with this node gets another one where goals are looked after.
      if (await fires.start(fire, schedule.overlap, goal)) await goals.enqueue(goal);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      await fires.end(fire, { from: 'due', state: 'failed', error: { error: error.code, detail: error.message } });
    }
  }

  async #clean(everyone: SystemScope): Promise<void> {
    const now = this.#deps.now();
    if (Math.abs(now - this.#cleanedAt) < DAY_MS) return;
    this.#cleanedAt = now;
    await this.#deps.fires.removeBefore(everyone, now - KEEP_MS);
  }

  async #guarded({ schedule }: Pick<Fire, 'schedule'>, work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) =>
      this.#deps.log.warn('a schedule could not be looked after', { schedule, error: String(error) }),
    );
  }
}

/** A spent budget is a failure of a schedule: nobody is there who would raise it. */
function outcomeOf(state: GoalState, error: GoalError | undefined) {
  if (state === 'done' || state === 'cancelled') return { state };
  const spent = { error: 'budget_spent', detail: 'The budget of the goal was spent.' };
  return { state: 'failed' as const, error: state === 'stopped' ? spent : (error ?? { error: 'internal', detail: '' }) };
}
