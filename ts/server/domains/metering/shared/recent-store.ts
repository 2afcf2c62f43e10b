/** What nodes on one database tell each other of quotas by the minute. */
import type { SystemScope } from '../../../platform/storage/index.ts';
import type { MeteringStorage, RecentRow } from '../tables.ts';

const ROWS_A_STATEMENT = 500;

export class RecentStore {
  readonly #storage: MeteringStorage;

  constructor(storage: MeteringStorage) {
    this.#storage = storage;
  }

  /** Slots are written whole: a row replaces the one before of the same slot. */
  async publish(everyone: SystemScope, rows: readonly RecentRow[]): Promise<void> {
    if (rows.length === 0) return;
    const parts = Array.from({ length: Math.ceil(rows.length / ROWS_A_STATEMENT) }, (_, i) =>
      rows.slice(i * ROWS_A_STATEMENT, (i + 1) * ROWS_A_STATEMENT),
    );
    await this.#storage.writeUnit(everyone, (db) =>
      parts.map((part) =>
        db
          .insertInto('metering_recent')
          .values(part)
          .onConflict((conflict) =>
            conflict.columns(['tenant', 'kind', 'subject', 'node', 'slot']).doUpdateSet((row) => ({
              requests: row.ref('excluded.requests'),
              tokens: row.ref('excluded.tokens'),
              updated_at: row.ref('excluded.updated_at'),
            })),
          ),
      ),
    );
  }

  /** What other nodes wrote since then. */
  ofOthers(everyone: SystemScope, node: string, since: number): Promise<RecentRow[]> {
    return this.#storage.read(everyone, (db) =>
      db.selectFrom('metering_recent').selectAll().where('node', '!=', node).where('updated_at', '>', since).execute(),
    );
  }

  async removeBefore(everyone: SystemScope, time: number): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [db.deleteFrom('metering_recent').where('updated_at', '<', time)]);
  }
}
