/**
 * The database of the product: SQLite in one file by default, or PostgreSQL. Modules bring migrations and read and write through
 * `StorageAccess`; a write that resolved is on disk. Each use names whose rows it may see (`TenantScope`).
 */
export type { DialectName } from './bound-kysely.ts';
export { type CopiedTable, type CopyOptions, type CopyProgress, copyDatabase } from './copy/copy-database.ts';
export { createStorage } from './create-storage.ts';
export { DataDirLock } from './data-dir-lock.ts';
export { observeStorage } from './database-storage.ts';
export { databaseTime } from './database-time.ts';
export { deleteInBatches } from './delete-in-batches.ts';
export { Integrity } from './integrity.ts';
export { type Column, column } from './migrations/column.ts';
export type { Migration, ModuleMigrations } from './migrations/migration.ts';
export type { MigrationPlan, PendingMigration } from './migrations/migration-plan.ts';
export type { MigrationSchema, TableDefinition } from './migrations/migration-schema.ts';
export type { NotificationHandlers, NotificationListener } from './notifications.ts';
export { type Page, readPage } from './page-bytes.ts';
export { type ReadPages, readPages } from './sqlite/read-pages.ts';
export { inspectSnapshot, type SnapshotInspection, type SnapshotKeys } from './sqlite/snapshot-thread.ts';
export { SpareThreads, type StartedThreads } from './sqlite/spare-threads.ts';
export type { StatementResult } from './statement.ts';
export type { Storage, StorageAccess } from './storage.ts';
export { StorageError, type StorageErrorCode, type WriteOutcome } from './storage-error.ts';
export type { StorageObserver, StorageOptions } from './storage-options.ts';
export {
  isSystemScope,
  type StorageScope,
  type SystemScope,
  systemScope,
  type TenantScope,
  tenantScope,
} from './tenant-scope.ts';
