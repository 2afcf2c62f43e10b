/** Rules on disk: imported ones, and which are switched off. And the block lists. */
import type { SystemScope } from '../../../platform/storage/index.ts';
import type { BlockListRow, DetectionStorage, RuleRow } from './tables.ts';

export class RuleStore {
  readonly #storage: DetectionStorage;

  constructor(storage: DetectionStorage) {
    this.#storage = storage;
  }

  list(everyone: SystemScope): Promise<RuleRow[]> {
    return this.#storage.read(everyone, (db) => db.selectFrom('logs_rules').selectAll().orderBy('id').execute());
  }

  async set(everyone: SystemScope, id: string, changes: { yaml?: string; enabled?: number }, nowMs: number): Promise<void> {
    const row: RuleRow = { id, yaml: null, enabled: 1, matches: 0, ...changes, updated_at: nowMs };
    await this.#storage.writeUnit(everyone, (db) => [
      db
        .insertInto('logs_rules')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...changes, updated_at: nowMs })),
    ]);
  }

  async remove(everyone: SystemScope, id: string): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [db.deleteFrom('logs_rules').where('id', '=', id)]);
  }

  blockLists(everyone: SystemScope): Promise<BlockListRow[]> {
    return this.#storage.read(everyone, (db) => db.selectFrom('logs_blocklists').selectAll().orderBy('name').execute());
  }

  async setBlockList(everyone: SystemScope, { name, ...row }: BlockListRow): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [
      db
        .insertInto('logs_blocklists')
        .values({ name, ...row })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(row)),
    ]);
  }

  /** False: there was none. */
  async removeBlockList(everyone: SystemScope, name: string): Promise<boolean> {
    const [removed] = await this.#storage.writeUnit(everyone, (db) => [
      db.deleteFrom('logs_blocklists').where('name', '=', name),
    ]);
    return removed?.affectedRows === 1;
  }
}
