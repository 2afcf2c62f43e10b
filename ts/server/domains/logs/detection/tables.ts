/** The rows of detection. Times are milliseconds since 1970. They belong to the node's network, and to no tenant. */
import { column, type Migration, type StorageAccess, type SystemScope, systemScope } from '../../../platform/storage/index.ts';
import type { IncidentState, Verdict } from './incident.ts';
import type { Level } from './sigma-rule.ts';

export interface RuleRow {
  id: string;
  /** Null: that of a rule of our own. */
  yaml: string | null;
  enabled: number;
  matches: number;
  updated_at: number;
}

export interface IncidentRow {
  id: string;
  /** The rule that opened it. */
  rule: string;
  family: string;
  entity: string;
  severity: Level;
  author: string;
  state: IncidentState;
  verdict: Verdict | null;
  opened_at: number;
  last_alert_at: number;
  closed_at: number | null;
  alerts: number;
  /** JSON, as `marks`. */
  uuids: string;
  marks: string;
}

/** A line that a rule alerted of, so that it does so once. */
interface AlertRow {
  rule: string;
  uuid: string;
  at: number;
}

export interface BlockListRow {
  name: string;
  /** One of both. */
  url: string | null;
  path: string | null;
  refresh_minutes: number;
  created_at: number;
}

interface DetectionTables {
  logs_rules: RuleRow;
  logs_incidents: IncidentRow;
  logs_alerts: AlertRow;
  logs_blocklists: BlockListRow;
}

export type DetectionStorage = StorageAccess<DetectionTables>;

export const everyLine = (): SystemScope => systemScope();

export const logsMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create rules, incidents, alerts and block lists',
    up: async (schema) => {
      await schema.table('logs_rules', {
        columns: {
          id: column.id(),
          yaml: column.text({ nullable: true }),
          enabled: column.flag(),
          matches: column.integer(),
          updated_at: column.timestamp(),
        },
        primaryKey: ['id'],
      });
      await schema.table('logs_incidents', {
        columns: {
          id: column.id(),
          rule: column.id(),
          family: column.id(),
          entity: column.text(),
          severity: column.text(),
          author: column.text(),
          state: column.text(),
          verdict: column.text({ nullable: true }),
          opened_at: column.timestamp(),
          last_alert_at: column.timestamp(),
          closed_at: column.timestamp({ nullable: true }),
          alerts: column.integer(),
          uuids: column.json(),
          marks: column.json(),
        },
        primaryKey: ['id'],
      });
      await schema.index('logs_incidents_by_entity', 'logs_incidents', ['family', 'entity', 'id']);
      await schema.index('logs_incidents_by_state', 'logs_incidents', ['state', 'last_alert_at']);
      await schema.table('logs_alerts', {
        columns: { rule: column.id(), uuid: column.id(), at: column.timestamp() },
        primaryKey: ['rule', 'uuid'],
      });
      await schema.index('logs_alerts_by_time', 'logs_alerts', ['at']);
      await schema.table('logs_blocklists', {
        columns: {
          name: column.id(),
          url: column.text({ nullable: true }),
          path: column.text({ nullable: true }),
          refresh_minutes: column.integer(),
          created_at: column.timestamp(),
        },
        primaryKey: ['name'],
      });
    },
  },
];
