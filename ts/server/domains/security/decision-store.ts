/** The decisions on disk. */
import type { StorageScope, SystemScope } from '../../platform/storage/index.ts';
import { type DecisionRow, type SecurityStorage, within } from './tables.ts';

export class DecisionStore {
  readonly #storage: SecurityStorage;

  constructor(storage: SecurityStorage) {
    this.#storage = storage;
  }

  async add(everyone: SystemScope, rows: readonly Omit<DecisionRow, 'seq'>[]): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [db.insertInto('security_decisions').values(rows as DecisionRow[])]);
  }

  /** Newest first; those before the number `after`. */
  list(scope: StorageScope, { after, limit }: { after: number | undefined; limit: number }): Promise<DecisionRow[]> {
    return this.#storage.read(scope, (db) => {
      let query = db.selectFrom('security_decisions').selectAll().where(within(scope)).orderBy('seq', 'desc').limit(limit);
      if (after !== undefined) query = query.where('seq', '<', after);
      return query.execute();
    });
  }

  async removeBefore(everyone: SystemScope, time: number): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [db.deleteFrom('security_decisions').where('at', '<', time)]);
  }
}
