/** The rows of the swarm module. Times are milliseconds since 1970. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { column, isSystemScope, type Migration, type StorageAccess, type StorageScope } from '../../platform/storage/index.ts';
import type { GoalState, StepState } from './goal.ts';
import type { FireState } from './schedules/schedule.ts';

export interface SwarmRow {
  tenant: string;
  id: string;
  owner: string;
  name: string;
  /** JSON: a Team. */
  team: string;
  created_at: number;
  updated_at: number;
}

export interface GoalRow {
  tenant: string;
  id: string;
  owner: string;
  state: GoalState;
  goal: string;
  swarm_id: string | null;
  /** JSON, as `budget`, `used`, `plan`, `delegation`, `artifacts` and `error`. The team is the swarm's as it was. */
  team: string;
  until: string;
  budget: string;
  used: string;
  plan: string;
  /** Empty: there is no plan yet. */
  plan_hash: string;
  delegation: string;
  artifacts: string;
  error: string | null;
  is_tainted: number;
  refusals: number;
  epoch: number;
  /** The number of its last event. */
  seq: number;
  created_at: number;
  updated_at: number;
}

export interface StepRow {
  tenant: string;
  goal: string;
  id: string;
  place: number;
  state: StepState;
  /** JSON. */
  journal: string;
  /** The text that it came to. */
  result: string | null;
}

export interface GoalEventRow {
  tenant: string;
  goal: string;
  seq: number;
  type: string;
  /** JSON. */
  data: string;
  at: number;
}

export interface ScheduleRow {
  tenant: string;
  id: string;
  owner: string;
  name: string;
  cron: string;
  timezone: string;
  kind: string;
  text: string;
  /** JSON, as `budget`, `delegation` and `paused`. */
  tools: string;
  budget: string;
  overlap: string;
  catch_up: string;
  enabled: number;
  delegation: string;
  failures: number;
  paused: string | null;
  next_at: number | null;
  planned_at: number;
  created_at: number;
  updated_at: number;
}

/** Its key is the time of a schedule: of all nodes, one inserts it. */
export interface FireRow {
  tenant: string;
  schedule: string;
  due_at: number;
  state: FireState;
  goal: string | null;
  /** JSON. */
  error: string | null;
}

export interface SwarmTables {
  swarm_schedules: ScheduleRow;
  swarm_fires: FireRow;
  swarm_swarms: SwarmRow;
  swarm_goals: GoalRow;
  swarm_steps: StepRow;
  swarm_events: GoalEventRow;
}

export type SwarmStorage = StorageAccess<SwarmTables>;

/** The condition that a row belongs to the scope. On SQLite it is the only wall between tenants. */
export function within(scope: StorageScope): RawBuilder<SqlBool> {
  return isSystemScope(scope) ? sql<SqlBool>`1 = 1` : sql<SqlBool>`tenant = ${scope.tenant}`;
}

export const swarmMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create swarms, goals, their steps and events',
    up: async (schema) => {
      await schema.tenantTable('swarm_swarms', {
        columns: {
          id: column.id(),
          owner: column.id(),
          name: column.text(),
          team: column.json(),
          created_at: column.timestamp(),
          updated_at: column.timestamp(),
        },
        primaryKey: ['tenant', 'id'],
      });
      await schema.tenantTable('swarm_goals', {
        columns: {
          id: column.id(),
          owner: column.id(),
          state: column.text(),
          goal: column.text(),
          swarm_id: column.id({ nullable: true }),
          team: column.json(),
          until: column.text(),
          budget: column.json(),
          used: column.json(),
          plan: column.json(),
          plan_hash: column.text(),
          delegation: column.json(),
          artifacts: column.json(),
          error: column.json({ nullable: true }),
          is_tainted: column.flag(),
          epoch: column.integer(),
          seq: column.integer(),
          created_at: column.timestamp(),
          updated_at: column.timestamp(),
        },
        primaryKey: ['tenant', 'id'],
      });
      await schema.index('swarm_goals_by_owner', 'swarm_goals', ['tenant', 'owner', 'id']);
      await schema.index('swarm_goals_by_state', 'swarm_goals', ['state']);
      await schema.tenantTable('swarm_steps', {
        columns: {
          goal: column.id(),
          id: column.id(),
          place: column.integer(),
          state: column.text(),
          journal: column.json(),
          result: column.text({ nullable: true }),
        },
        primaryKey: ['tenant', 'goal', 'id'],
      });
      await schema.tenantTable('swarm_events', {
        columns: {
          goal: column.id(),
          seq: column.integer(),
          type: column.text(),
          data: column.json(),
          at: column.timestamp(),
        },
        primaryKey: ['tenant', 'goal', 'seq'],
      });
    },
  },
  {
    id: 2,
    name: 'create schedules and their fires',
    up: async (schema) => {
      await schema.tenantTable('swarm_schedules', {
        columns: {
          id: column.id(),
          owner: column.id(),
          name: column.text(),
          cron: column.text(),
          timezone: column.text(),
          kind: column.text(),
          text: column.text(),
          tools: column.json(),
          budget: column.json(),
          overlap: column.text(),
          catch_up: column.text(),
          enabled: column.flag(),
          delegation: column.json(),
          failures: column.integer(),
          paused: column.json({ nullable: true }),
          next_at: column.timestamp({ nullable: true }),
          planned_at: column.timestamp(),
          created_at: column.timestamp(),
          updated_at: column.timestamp(),
        },
        primaryKey: ['tenant', 'id'],
      });
      await schema.index('swarm_schedules_by_time', 'swarm_schedules', ['next_at'], { where: 'enabled = 1' });
      await schema.tenantTable('swarm_fires', {
        columns: {
          schedule: column.id(),
          due_at: column.timestamp(),
          state: column.text(),
          goal: column.id({ nullable: true }),
          error: column.json({ nullable: true }),
        },
        primaryKey: ['tenant', 'schedule', 'due_at'],
      });
      await schema.index('swarm_fires_by_state', 'swarm_fires', ['state', 'due_at']);
    },
  },
  {
    id: 3,
    name: 'count what busy models put off',
    up: (schema) => schema.addColumn('swarm_goals', 'refusals', column.integer({ default: 0 })),
  },
];
