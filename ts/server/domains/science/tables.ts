/** The rows of the science module. Times are milliseconds since 1970. */
import { column, type Migration, type StorageAccess, type SystemScope, systemScope } from '../../platform/storage/index.ts';

/** A tenant's decision about a source. */
export interface SourceRow {
  tenant: string;
  source: string;
  enabled: number;
  /** By the node that it was given to, and it works there alone; null: none. */
  sealed_key: string | null;
  sealed_by: string | null;
  updated_at: number;
}

type RequestState = 'waiting' | 'enabled' | 'declined';

/** Somebody asked for a source. */
export interface RequestRow {
  tenant: string;
  id: string;
  source: string;
  owner: string;
  reason: string;
  state: RequestState;
  created_at: number;
  decided_at: number | null;
}

/** When a source may be asked again, whichever node or tenant asks. */
export interface PaceRow {
  source: string;
  /** The place that was taken last. */
  slot_at: number;
  next_at: number;
  /** The source asked to be left alone until then. */
  blocked_until: number;
  /** The source itself said so; 0: it did not. */
  interval_ms: number;
}

export interface ScienceTables {
  science_sources: SourceRow;
  science_requests: RequestRow;
  science_pace: PaceRow;
}

export type ScienceStorage = StorageAccess<ScienceTables>;

/** How fast sources are asked belongs to no tenant. */
export const everySource = (): SystemScope => systemScope();

export const scienceMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create sources of tenants, requests for them, and their pace',
    up: async (schema) => {
      await schema.tenantTable('science_sources', {
        columns: {
          source: column.id(),
          enabled: column.flag(),
          sealed_key: column.text({ nullable: true }),
          sealed_by: column.text({ nullable: true }),
          updated_at: column.timestamp(),
        },
        primaryKey: ['tenant', 'source'],
      });
      await schema.tenantTable('science_requests', {
        columns: {
          id: column.id(),
          source: column.id(),
          owner: column.id(),
          reason: column.text(),
          state: column.text(),
          created_at: column.timestamp(),
          decided_at: column.timestamp({ nullable: true }),
        },
        primaryKey: ['tenant', 'id'],
      });
      await schema.table('science_pace', {
        columns: {
          source: column.id(),
          slot_at: column.timestamp(),
          next_at: column.timestamp(),
          blocked_until: column.timestamp(),
          interval_ms: column.integer(),
        },
        primaryKey: ['source'],
      });
    },
  },
];
