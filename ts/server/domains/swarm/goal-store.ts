/** Goals, their steps and events on disk. Whoever writes names the state before, or the number of the time that the goal was set to work. */
import type { Kysely } from 'kysely';
import type { Events } from '../../platform/events/index.ts';
import type { SystemScope, TenantScope } from '../../platform/storage/index.ts';
import { goalEnded } from '../edge/index.ts';
import type { Budget, Goal, GoalError, GoalState, Journal, PlannedStep, StepState, Team, Used } from './goal.ts';
import { type GoalEventRow, type GoalRow, type StepRow, type SwarmStorage, type SwarmTables, within } from './tables.ts';

export interface GoalEvent {
  readonly type: 'goal' | 'step' | 'tool' | 'approval' | 'text' | 'budget' | 'end';
  readonly data: object;
}

export interface Step {
  readonly id: string;
  readonly state: StepState;
  readonly journal: Journal;
  readonly result: string | undefined;
}

/** The changes of a goal beside its state. */
interface GoalChange {
  readonly used?: Used;
  readonly artifacts?: readonly string[];
  readonly isTainted?: boolean;
  readonly refusals?: number;
  readonly error?: GoalError | null;
  readonly budget?: Budget;
  readonly plan?: readonly PlannedStep[];
  readonly planHash?: string;
}

interface Written extends GoalChange {
  readonly state?: GoalState;
  /** Counts the time that the goal is set to work up. */
  readonly isNewEpoch?: boolean;
  readonly steps?: readonly Step[];
  readonly events?: readonly GoalEvent[];
}

/** The goal is in a state, or at a time, in which the writer may write. */
interface Expected {
  readonly states: readonly GoalState[];
  readonly epoch?: number;
}

interface GoalPage {
  readonly owner: string;
  readonly after: string;
  readonly limit: number;
}

export class GoalStore {
  readonly #storage: SwarmStorage;
  readonly #events: Pick<Events, 'record'>;
  readonly #now: () => number;

  constructor(storage: SwarmStorage, events: Pick<Events, 'record'>, now: () => number) {
    this.#storage = storage;
    this.#events = events;
    this.#now = now;
  }

  async insert(scope: TenantScope, goal: Goal): Promise<void> {
    await this.#storage.write(scope, (tx) => this.insertIn(tx, goal));
  }

  /** The goal, with the steps of its plan, becomes part of a write of the caller's. */
  async insertIn(tx: Kysely<SwarmTables>, goal: Goal): Promise<void> {
    const event = eventRow(goal, 1, { type: 'goal', data: { state: goal.state } }, goal.createdAt);
    const row = rowOf(goal);
    await tx.insertInto('swarm_goals').values(row).execute();
    await tx.insertInto('swarm_events').values(event).execute();
    await this.#writeSteps(tx, row, [], goal.plan);
  }

  async find(scope: TenantScope, id: string): Promise<Goal | undefined> {
    const row = await this.#storage.read(scope, (db) =>
      db.selectFrom('swarm_goals').selectAll().where(within(scope)).where('id', '=', id).executeTakeFirst(),
    );
    return row === undefined ? undefined : goalOf(row);
  }

  /** Newest first. */
  async list(scope: TenantScope, { owner, after, limit }: GoalPage): Promise<Goal[]> {
    const rows = await this.#storage.read(scope, (db) => {
      let query = db.selectFrom('swarm_goals').selectAll().where(within(scope)).where('owner', '=', owner);
      if (after !== '') query = query.where('id', '<', after);
      return query.orderBy('id', 'desc').limit(limit).execute();
    });
    return rows.map(goalOf);
  }

  /** Some of those in a state, whosever they are. */
  async listIn(everyone: SystemScope, state: GoalState, limit: number): Promise<Goal[]> {
    const rows = await this.#storage.read(everyone, (db) =>
      db.selectFrom('swarm_goals').selectAll().where('state', '=', state).orderBy('updated_at').limit(limit).execute(),
    );
    return rows.map(goalOf);
  }

  /** Lists them in the order of the plan. */
  async steps(scope: TenantScope, goal: string): Promise<Step[]> {
    const rows = await this.#storage.read(scope, (db) =>
      db.selectFrom('swarm_steps').selectAll().where(within(scope)).where('goal', '=', goal).orderBy('place').execute(),
    );
    return rows.map(stepOf);
  }

  /** Those behind `after`, in their order. */
  events(scope: TenantScope, goal: string, after: number, limit: number): Promise<GoalEventRow[]> {
    return this.#storage.read(scope, (db) =>
      db
        .selectFrom('swarm_events')
        .selectAll()
        .where(within(scope))
        .where('goal', '=', goal)
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(limit)
        .execute(),
    );
  }

  /** Undefined: the goal is not as expected, and nothing was written. All of it is on disk, or nothing is. */
  async write(scope: TenantScope, id: string, expected: Expected, written: Written): Promise<Goal | undefined> {
    const { events = [], steps = [], state } = written;
    const told: GoalEvent[] = state === undefined ? [...events] : [...events, { type: 'goal', data: { state } }];
    const isEnd = state === 'done' || state === 'failed' || state === 'cancelled';
    if (isEnd) told.push({ type: 'end', data: { state } });
    return await this.#storage.write(scope, async (tx) => {
      const at = this.#now();
      let query = tx
        .updateTable('swarm_goals')
        .set((eb) => ({
          ...columnsOf(written),
          ...(written.isNewEpoch === true && { epoch: eb('epoch', '+', 1) }),
          seq: eb('seq', '+', told.length),
          updated_at: at,
        }))
        .where('tenant', '=', scope.tenant)
        .where('id', '=', id)
        .where('state', 'in', [...expected.states]);
      if (expected.epoch !== undefined) query = query.where('epoch', '=', expected.epoch);
      const row = await query.returningAll().executeTakeFirst();
      if (row === undefined) return undefined;
      await this.#writeSteps(tx, row, steps, written.plan);
      const first = row.seq - told.length + 1;
      const rows = told.map((event, i) => eventRow(row, first + i, event, at));
      if (rows.length > 0) await tx.insertInto('swarm_events').values(rows).execute();
      const ended = { id, state: row.state, owner: row.owner, error: written.error?.error ?? null };
      if (isEnd) await this.#events.record(tx, scope, goalEnded, ended).execute();
      return goalOf(row);
    });
  }

  async #writeSteps(
    tx: Kysely<SwarmTables>,
    { tenant, id: goal }: GoalRow,
    steps: readonly Step[],
    plan: readonly PlannedStep[] | undefined,
  ): Promise<void> {
    if (plan !== undefined) {
      await tx.deleteFrom('swarm_steps').where('tenant', '=', tenant).where('goal', '=', goal).execute();
      const rows = plan.map(({ id }, place): StepRow => {
        const journal = JSON.stringify(newJournal());
        return { tenant, goal, id, place, state: 'pending', journal, result: null };
      });
      if (rows.length > 0) await tx.insertInto('swarm_steps').values(rows).execute();
    }
    for (const { id, state, journal, result } of steps)
      await tx
        .updateTable('swarm_steps')
        .set({ state, journal: JSON.stringify(journal), result: result ?? null })
        .where('tenant', '=', tenant)
        .where('goal', '=', goal)
        .where('id', '=', id)
        .execute();
  }
}

function newJournal(): Journal {
  return { messages: [], calls: [], rounds: 0, held: 0 };
}

function columnsOf({ state, used, artifacts, isTainted, refusals, error, budget, plan, planHash }: Written): Partial<GoalRow> {
  return {
    ...(state !== undefined && { state }),
    ...(used !== undefined && { used: JSON.stringify(used) }),
    ...(artifacts !== undefined && { artifacts: JSON.stringify(artifacts) }),
    ...(isTainted !== undefined && { is_tainted: isTainted ? 1 : 0 }),
    ...(refusals !== undefined && { refusals }),
    ...(error !== undefined && { error: error === null ? null : JSON.stringify(error) }),
    ...(budget !== undefined && { budget: JSON.stringify(budget) }),
    ...(plan !== undefined && { plan: JSON.stringify(plan) }),
    ...(planHash !== undefined && { plan_hash: planHash }),
  };
}

function eventRow(goal: { tenant: string; id: string }, seq: number, { type, data }: GoalEvent, at: number): GoalEventRow {
  return { tenant: goal.tenant, goal: goal.id, seq, type, data: JSON.stringify(data), at };
}

function rowOf(goal: Goal): GoalRow {
  const { tenant, id, owner, state, until, epoch } = goal;
  return {
    tenant,
    id,
    owner,
    state,
    goal: goal.goal,
    swarm_id: goal.swarmId ?? null,
    team: JSON.stringify(goal.team),
    until,
    budget: JSON.stringify(goal.budget),
    used: JSON.stringify(goal.used),
    plan: JSON.stringify(goal.plan),
    plan_hash: goal.planHash,
    delegation: JSON.stringify(goal.delegation),
    artifacts: JSON.stringify(goal.artifacts),
    error: goal.error === undefined ? null : JSON.stringify(goal.error),
    is_tainted: goal.isTainted ? 1 : 0,
    refusals: goal.refusals,
    epoch,
    seq: 1,
    created_at: goal.createdAt,
    updated_at: goal.updatedAt,
  };
}

function goalOf(row: GoalRow): Goal {
  const { tenant, id, owner, state, goal, epoch } = row;
  return {
    tenant,
    id,
    owner,
    state,
    goal,
    swarmId: row.swarm_id ?? undefined,
    team: JSON.parse(row.team) as Team,
    until: row.until as Goal['until'],
    budget: JSON.parse(row.budget) as Budget,
    used: JSON.parse(row.used) as Used,
    plan: JSON.parse(row.plan) as PlannedStep[],
    planHash: row.plan_hash,
    delegation: JSON.parse(row.delegation) as Goal['delegation'],
    artifacts: JSON.parse(row.artifacts) as string[],
    error: row.error === null ? undefined : (JSON.parse(row.error) as GoalError),
    isTainted: row.is_tainted === 1,
    refusals: row.refusals,
    epoch,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function stepOf({ id, state, journal, result }: StepRow): Step {
  return { id, state, journal: JSON.parse(journal) as Journal, result: result ?? undefined };
}
