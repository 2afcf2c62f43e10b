/** Schedules on disk. */
import type { SystemScope, TenantScope } from '../../../platform/storage/index.ts';
import type { GoalError } from '../goal.ts';
import { type ScheduleRow, type SwarmStorage, within } from '../tables.ts';
import type { Schedule } from './schedule.ts';

interface SchedulePage {
  readonly owner: string;
  readonly after: string;
  readonly limit: number;
}

/** The clock of a node is this much behind that of another one at most; what is more was set back. */
const SKEW_MS = 60_000;

export class ScheduleStore {
  readonly #storage: SwarmStorage;
  readonly #now: () => number;

  constructor(storage: SwarmStorage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
  }

  async insert(scope: TenantScope, schedule: Schedule): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [db.insertInto('swarm_schedules').values(rowOf(schedule))]);
  }

  async find(scope: TenantScope, id: string): Promise<Schedule | undefined> {
    const row = await this.#storage.read(scope, (db) =>
      db.selectFrom('swarm_schedules').selectAll().where(within(scope)).where('id', '=', id).executeTakeFirst(),
    );
    return row === undefined ? undefined : scheduleOf(row);
  }

  /** Lists them in the order in which they were made. */
  async list(scope: TenantScope, { owner, after, limit }: SchedulePage): Promise<Schedule[]> {
    const rows = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('swarm_schedules')
        .selectAll()
        .where(within(scope))
        .where('owner', '=', owner)
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit)
        .execute(),
    );
    return rows.map(scheduleOf);
  }

  /** False: it is there no more. */
  async update(scope: TenantScope, schedule: Schedule): Promise<boolean> {
    const { tenant: _, id, created_at: __, ...set } = rowOf(schedule);
    const [updated] = await this.#storage.writeUnit(scope, (db) => [
      db.updateTable('swarm_schedules').set(set).where('tenant', '=', scope.tenant).where('id', '=', id),
    ]);
    return (updated?.affectedRows ?? 0) > 0;
  }

  /** Goals that it has set go on. */
  async remove(scope: TenantScope, id: string): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db.deleteFrom('swarm_fires').where('tenant', '=', scope.tenant).where('schedule', '=', id),
      db.deleteFrom('swarm_schedules').where('tenant', '=', scope.tenant).where('id', '=', id),
    ]);
  }

  /** Those whose time has come, and those whose next time was worked out by a clock that was set back since. */
  async listDue(everyone: SystemScope, limit: number): Promise<Schedule[]> {
    const now = this.#now();
    const rows = await this.#storage.read(everyone, (db) =>
      db
        .selectFrom('swarm_schedules')
        .selectAll()
        .where('enabled', '=', 1)
        .where((eb) => eb.or([eb('next_at', '<=', now), eb('planned_at', '>', now + SKEW_MS)]))
        .orderBy('next_at')
        .limit(limit)
        .execute(),
    );
    return rows.map(scheduleOf);
  }
}

function rowOf(schedule: Schedule): ScheduleRow {
  const { tenant, id, owner, name, cron, timezone, kind, text, overlap, failures } = schedule;
  return {
    tenant,
    id,
    owner,
    name,
    cron,
    timezone,
    kind,
    text,
    tools: JSON.stringify(schedule.tools),
    budget: JSON.stringify(schedule.budget),
    overlap,
    catch_up: schedule.catchUp,
    enabled: schedule.isEnabled ? 1 : 0,
    delegation: JSON.stringify(schedule.delegation),
    failures,
    paused: schedule.paused === undefined ? null : JSON.stringify(schedule.paused),
    next_at: schedule.nextAt ?? null,
    planned_at: schedule.plannedAt,
    created_at: schedule.createdAt,
    updated_at: schedule.updatedAt,
  };
}

export function scheduleOf(row: ScheduleRow): Schedule {
  const { tenant, id, owner, name, cron, timezone, kind, text, failures } = row;
  return {
    tenant,
    id,
    owner,
    name,
    cron,
    timezone,
    kind: kind as Schedule['kind'],
    text,
    tools: JSON.parse(row.tools) as string[],
    budget: JSON.parse(row.budget) as Schedule['budget'],
    overlap: row.overlap as Schedule['overlap'],
    catchUp: row.catch_up as Schedule['catchUp'],
    isEnabled: row.enabled === 1,
    delegation: JSON.parse(row.delegation) as Schedule['delegation'],
    failures,
    paused: row.paused === null ? undefined : (JSON.parse(row.paused) as GoalError),
    nextAt: row.next_at ?? undefined,
    plannedAt: row.planned_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
