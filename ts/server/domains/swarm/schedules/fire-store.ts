/** The fires of schedules on disk. Each has one row, and whoever writes names the state before: of many nodes, one does. */
import type { Kysely } from 'kysely';
import type { Events } from '../../../platform/events/index.ts';
import type { SystemScope, TenantScope } from '../../../platform/storage/index.ts';
import { schedulePaused } from '../../edge/index.ts';
import { scopeOfGoal } from '../access-check.ts';
import type { Goal, GoalError, GoalState } from '../goal.ts';
import type { GoalStore } from '../goal-store.ts';
import type { FireRow, ScheduleRow, SwarmStorage, SwarmTables } from '../tables.ts';
import type { Fire, FireState, Schedule } from './schedule.ts';
import { scheduleOf } from './schedule-store.ts';

/** A fire whose goal is over. */
interface EndedFire extends Fire {
  readonly goalState: GoalState;
  readonly goalError: GoalError | undefined;
}

interface FireEnd {
  readonly from: FireState;
  readonly state: 'done' | 'failed' | 'cancelled' | 'skipped';
  readonly error?: GoalError;
}

/** Failures in a row behind which a schedule is paused. */
const MOST_FAILURES = 5;
/** Fires of one schedule that wait; further ones are left out. */
const MAX_WAITING = 100;
const OVER: readonly GoalState[] = ['done', 'failed', 'stopped', 'cancelled'];

export class FireStore {
  readonly #storage: SwarmStorage;
  readonly #goals: GoalStore;
  readonly #events: Pick<Events, 'record'>;
  readonly #now: () => number;

  constructor(storage: SwarmStorage, goals: GoalStore, events: Pick<Events, 'record'>, now: () => number) {
    this.#storage = storage;
    this.#goals = goals;
    this.#events = events;
    this.#now = now;
  }

  /** The newest fire of each of the schedules that has one. */
  async lastFires(scope: TenantScope, schedules: readonly string[]): Promise<Map<string, Fire>> {
    if (schedules.length === 0) return new Map();
    const rows = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('swarm_fires as fire')
        .selectAll()
        .where('fire.tenant', '=', scope.tenant)
        .where('fire.schedule', 'in', [...schedules])
        .where('fire.due_at', '=', (eb) =>
          eb
            .selectFrom('swarm_fires as other')
            .select(({ fn }) => fn.max('other.due_at').as('last'))
            .whereRef('other.tenant', '=', 'fire.tenant')
            .whereRef('other.schedule', '=', 'fire.schedule'),
        )
        .execute(),
    );
    return new Map(rows.map((row) => [row.schedule, fireOf(row)]));
  }

  /** Writes the fires that are due and the time that comes next, where no other node did. */
  async plan(schedule: Schedule, due: readonly number[], nextAt: number | undefined): Promise<void> {
    const { tenant, id } = schedule;
    await this.#storage.write(scopeOfGoal(schedule), async (tx) => {
      const planned = await tx
        .updateTable('swarm_schedules')
        .set({ next_at: nextAt ?? null, planned_at: this.#now() })
        .where('tenant', '=', tenant)
        .where('id', '=', id)
        .where('enabled', '=', 1)
        .where('next_at', schedule.nextAt === undefined ? 'is' : '=', schedule.nextAt ?? null)
        .where('planned_at', '=', schedule.plannedAt)
        .returning('id')
        .executeTakeFirst();
      if (planned === undefined) return;
      const nFree = MAX_WAITING - (await countFires(tx, { tenant, id, state: 'due' }));
      for (const [i, dueAt] of due.entries()) {
        const state = i < nFree ? ('due' as const) : ('skipped' as const);
        await insertFire(tx, { tenant, schedule: id, due_at: dueAt, state, goal: null, error: null });
      }
    });
  }

  /** A fire of now, beside those of the pattern, with its goal. */
  async startNow({ tenant, id: schedule }: Schedule, goal: Goal): Promise<void> {
    const scope = scopeOfGoal({ tenant });
    const started = { tenant, schedule, state: 'started' as const, goal: goal.id, error: null };
    const add = (dueAt: number): Promise<boolean> =>
      this.#storage.write(scope, async (tx) => {
        const isNew = (await insertFire(tx, { ...started, due_at: dueAt })) !== undefined;
        if (isNew) await this.#goals.insertIn(tx, goal);
        return isNew;
      });
    for (let dueAt = this.#now(); !(await add(dueAt)); ) dueAt += 1;
  }

  /** Fires that nobody started, with their schedules, oldest first; those that wait in a queue are not among them. */
  async listWaiting(everyone: SystemScope, limit: number): Promise<{ fire: Fire; schedule: Schedule }[]> {
    return await this.#storage.read(everyone, async (db) => {
      const fires = await db
        .selectFrom('swarm_fires as fire')
        .innerJoin('swarm_schedules as schedule', (join) =>
          join.onRef('schedule.tenant', '=', 'fire.tenant').onRef('schedule.id', '=', 'fire.schedule'),
        )
        .selectAll('fire')
        .where('fire.state', '=', 'due')
        .where((eb) =>
          eb.or([
            eb('schedule.overlap', '!=', 'queue'),
            eb.not(
              eb.exists(
                eb
                  .selectFrom('swarm_fires as other')
                  .select('other.due_at')
                  .whereRef('other.tenant', '=', 'fire.tenant')
                  .whereRef('other.schedule', '=', 'fire.schedule')
                  .where('other.state', '=', 'started'),
              ),
            ),
          ]),
        )
        .orderBy('fire.due_at')
        .limit(limit)
        .execute();
      const ids = [...new Set(fires.map(({ schedule }) => schedule))];
      if (ids.length === 0) return [];
      const rows = await db.selectFrom('swarm_schedules').selectAll().where('id', 'in', ids).execute();
      return fires.flatMap((fire) => {
        const row = rows.find(({ tenant, id }) => tenant === fire.tenant && id === fire.schedule);
        return row === undefined ? [] : [{ fire: fireOf(fire), schedule: scheduleOf(row) }];
      });
    });
  }

  /** Fires whose goals are over. */
  async listEnded(everyone: SystemScope, limit: number): Promise<EndedFire[]> {
    const rows = await this.#storage.read(everyone, (db) =>
      db
        .selectFrom('swarm_fires as fire')
        .innerJoin('swarm_goals as goal', (join) =>
          join.onRef('goal.tenant', '=', 'fire.tenant').onRef('goal.id', '=', 'fire.goal'),
        )
        .selectAll('fire')
        .select(['goal.state as goal_state', 'goal.error as goal_error'])
        .where('fire.state', '=', 'started')
        .where('goal.state', 'in', [...OVER])
        .limit(limit)
        .execute(),
    );
    return rows.map(({ goal_state: goalState, goal_error: error, ...row }) => ({
      ...fireOf(row),
      goalState,
      goalError: error === null ? undefined : (JSON.parse(error) as GoalError),
    }));
  }

  /** Starts the fire where nobody did and nothing of its schedule is in its way: the goal is there with that, or neither is. */
  async start({ schedule: id, dueAt, tenant }: Fire, overlap: Schedule['overlap'], goal: Goal): Promise<boolean> {
    const scope = scopeOfGoal({ tenant });
    return await this.#storage.write(scope, async (tx) => {
      // The row of the schedule is locked by that: two fires of it do not start side by side.
      const locked = await tx
        .updateTable('swarm_schedules')
        .set((eb) => ({ failures: eb.ref('failures') }))
        .where('tenant', '=', tenant)
        .where('id', '=', id)
        .returning('id')
        .executeTakeFirst();
      if (locked === undefined) return false;
      const isBusy = overlap !== 'allow' && (await countFires(tx, { tenant, id, state: 'started' })) > 0;
      if (isBusy && overlap === 'queue') return false;
      const [state, goalId] = isBusy ? (['skipped', null] as const) : (['started', goal.id] as const);
      const updated = await tx
        .updateTable('swarm_fires')
        .set({ state, goal: goalId })
        .where('tenant', '=', tenant)
        .where('schedule', '=', id)
        .where('due_at', '=', dueAt)
        .where('state', '=', 'due')
        .returning('state')
        .executeTakeFirst();
      if (updated?.state !== 'started') return false;
      await this.#goals.insertIn(tx, goal);
      return true;
    });
  }

  /** Counts the failures of the schedule, which is paused behind the fifth in a row. Nothing happens where somebody else ended the fire. */
  async end({ tenant, schedule: id, dueAt }: Fire, { from, state, error }: FireEnd): Promise<void> {
    const scope = scopeOfGoal({ tenant });
    await this.#storage.write(scope, async (tx) => {
      const ended = await tx
        .updateTable('swarm_fires')
        .set({ state, error: error === undefined ? null : JSON.stringify(error) })
        .where('tenant', '=', tenant)
        .where('schedule', '=', id)
        .where('due_at', '=', dueAt)
        .where('state', '=', from)
        .returning('due_at')
        .executeTakeFirst();
      if (ended === undefined || state === 'cancelled' || state === 'skipped') return;
      const row = await tx
        .updateTable('swarm_schedules')
        .set((eb) => ({ failures: state === 'done' ? 0 : eb('failures', '+', 1) }))
        .where('tenant', '=', tenant)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst();
      if (row !== undefined && row.enabled === 1 && row.failures >= MOST_FAILURES) await this.#pause(tx, row, error);
    });
  }

  /** Fires that ended before the time, of every tenant. */
  async removeBefore(everyone: SystemScope, time: number): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [
      db.deleteFrom('swarm_fires').where('due_at', '<', time).where('state', 'not in', ['due', 'started']),
    ]);
  }

  async #pause(tx: Kysely<SwarmTables>, { tenant, id, owner, name, failures }: ScheduleRow, error: GoalError | undefined) {
    const paused = JSON.stringify(error ?? { error: 'internal', detail: '' });
    await tx
      .updateTable('swarm_schedules')
      .set({ enabled: 0, next_at: null, paused, updated_at: this.#now() })
      .where('tenant', '=', tenant)
      .where('id', '=', id)
      .execute();
    await tx
      .updateTable('swarm_fires')
      .set({ state: 'skipped' })
      .where('tenant', '=', tenant)
      .where('schedule', '=', id)
      .where('state', '=', 'due')
      .execute();
    const told = { id, name, owner, failures, error: error?.error ?? 'internal' };
    await this.#events.record(tx, scopeOfGoal({ tenant }), schedulePaused, told).execute();
  }
}

/** Undefined: the fire was there. */
async function insertFire(tx: Kysely<SwarmTables>, row: FireRow): Promise<FireRow | undefined> {
  return await tx
    .insertInto('swarm_fires')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant', 'schedule', 'due_at']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

async function countFires(
  tx: Kysely<SwarmTables>,
  { tenant, id, state }: { tenant: string; id: string; state: FireState },
): Promise<number> {
  const { n } = await tx
    .selectFrom('swarm_fires')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('tenant', '=', tenant)
    .where('schedule', '=', id)
    .where('state', '=', state)
    .executeTakeFirstOrThrow();
  return Number(n);
}

function fireOf({ tenant, schedule, due_at: dueAt, state, goal, error }: FireRow): Fire {
  const thrown = error === null ? undefined : (JSON.parse(error) as GoalError);
  return { tenant, schedule, dueAt, state, goal: goal ?? undefined, error: thrown };
}
