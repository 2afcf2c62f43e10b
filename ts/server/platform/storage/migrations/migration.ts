import type { MigrationSchema } from './migration-schema.ts';

/** One forward step of a module's tables. What was released never changes: a correction is a further migration. */
export interface Migration {
  /** Numbered from 1 for each module, without gaps. */
  readonly id: number;
  /** A few words, kept in the database: `create jobs`. */
  readonly name: string;
  /** The backup before it is called `DATABASE.pre-BACKUP.bak`; absent: by the module and the number. */
  readonly backup?: string;
  up(schema: MigrationSchema): Promise<void>;
}

export interface ModuleMigrations {
  readonly module: string;
  readonly migrations: readonly Migration[];
  /**
   * Tables, and columns as `table.column`, that tell of the present moment alone: leases, heartbeats, times of last use. A copy of the database lacks
   * nothing without them, so commits that change nothing else are not counted (`Storage.countCommits`).
   */
  readonly transient?: readonly string[];
}
