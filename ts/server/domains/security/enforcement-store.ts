/** The modes on disk. They belong to no tenant's scope: who may see them, the routes decide. */
import type { SystemScope } from '../../platform/storage/index.ts';
import type { EnforcementMode } from './enforcement-mode.ts';
import type { EnforcementRow, SecurityStorage } from './tables.ts';

export class EnforcementStore {
  readonly #storage: SecurityStorage;

  constructor(storage: SecurityStorage) {
    this.#storage = storage;
  }

  all(everyone: SystemScope): Promise<EnforcementRow[]> {
    return this.#storage.read(everyone, (db) =>
      db.selectFrom('security_enforcement').selectAll().orderBy('kind').orderBy('id').execute(),
    );
  }

  /** Undefined removes the mode. */
  async set(everyone: SystemScope, kind: EnforcementRow['kind'], id: string, mode: EnforcementMode | undefined): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [
      db.deleteFrom('security_enforcement').where('kind', '=', kind).where('id', '=', id),
      ...(mode === undefined ? [] : [db.insertInto('security_enforcement').values({ kind, id, mode })]),
    ]);
  }
}
