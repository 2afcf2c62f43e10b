/** What `svc migrate --dry-run` shows. */
export interface PendingMigration {
  readonly module: string;
  readonly id: number;
  readonly name: string;
}

export interface MigrationPlan {
  /** In the order in which they will run. */
  readonly pending: readonly PendingMigration[];
  /** The backup that will be made first; undefined where there is nothing to lose, or the operator makes backups (PostgreSQL). */
  readonly backupPath: string | undefined;
}
