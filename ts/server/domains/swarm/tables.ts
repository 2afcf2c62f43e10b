/** The rows of the swarm module. Times are milliseconds since 1970. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { column, isSystemScope, type Migration, type StorageAccess, type StorageScope } from '../../platform/storage/index.ts';
import type { GoalState, StepState } from './goal.ts';

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

export interface SwarmTables {
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
];
