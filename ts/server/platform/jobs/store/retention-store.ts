/** What is counted and deleted across all tenants. */
import { type StorageAccess, systemScope } from '../../storage/index.ts';
import type { JobTables } from './job-tables.ts';

/** So that deleting many keeps no other write waiting. */
const MAX_DELETED_AT_ONCE = 500;

export interface KindCount {
  readonly kind: string;
  readonly n: number;
}

export class RetentionStore {
  readonly #access: StorageAccess<JobTables>;

  constructor(access: StorageAccess<JobTables>) {
    this.#access = access;
  }

  /** Deletes jobs that ended before a time. The number that was deleted. */
  async deleteEndedBefore(time: number): Promise<number> {
    for (let deleted = 0; ; ) {
      const [result] = await this.#access.writeUnit(systemScope(), (db) => [
        db
          .deleteFrom('jobs')
          .where('id', 'in', (ended) =>
            ended.selectFrom('jobs').select('id').where('ended_at', '<', time).orderBy('ended_at').limit(MAX_DELETED_AT_ONCE),
          ),
      ]);
      deleted += result?.affectedRows ?? 0;
      if ((result?.affectedRows ?? 0) < MAX_DELETED_AT_ONCE) return deleted;
    }
  }

  async countQueued(): Promise<KindCount[]> {
    return await this.#access.read(systemScope(), (db) =>
      db
        .selectFrom('jobs')
        .select((of) => ['kind', of.fn.countAll<number>().as('n')])
        .where('state', '=', 'queued')
        .groupBy('kind')
        .execute(),
    );
  }
}
