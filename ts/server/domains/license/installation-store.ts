/** The installation: all nodes on one database are the same one. It belongs to no tenant. */
import { type StorageAccess, systemScope } from '../../platform/storage/index.ts';
import type { Installation } from './license-status.ts';

export interface LicenseTables {
  /** One row, which the migration makes. */
  license_installation: { id: string; created_at: number };
}

export async function readInstallation(storage: StorageAccess<LicenseTables>): Promise<Installation> {
  const row = await storage.read(systemScope(), (db) =>
    db.selectFrom('license_installation').selectAll().executeTakeFirstOrThrow(),
  );
  return { id: row.id, createdAt: row.created_at };
}
