/** What is counted and deleted across all tenants. */
import { deleteInBatches, type StorageAccess, systemScope, type TenantScope } from '../../storage/index.ts';
import type { JobTables } from './job-tables.ts';

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
    return await deleteInBatches(this.#access, (db, limit) =>
      db
        .deleteFrom('jobs')
        .where('id', 'in', (ended) =>
          ended.selectFrom('jobs').select('id').where('ended_at', '<', time).orderBy('ended_at').limit(limit),
        ),
    );
  }

  /** Ends the tenant's queued jobs, asks for the end of the running ones, and deletes the others. The number of those that still run. */
  async eraseTenant({ tenant }: TenantScope, now: number): Promise<number> {
    await this.#access.writeUnit(systemScope(), (db) => {
      const jobs = () => db.updateTable('jobs').where('tenant', '=', tenant);
      return [
        jobs().set({ state: 'cancelled', ended_at: now }).where('state', '=', 'queued'),
        jobs().set({ cancel_requested: 1 }).where('state', '=', 'running'),
      ];
    });
    await deleteInBatches(this.#access, (db, limit) =>
      db
        .deleteFrom('jobs')
        .where('id', 'in', (ended) =>
          ended.selectFrom('jobs').select('id').where('tenant', '=', tenant).where('ended_at', 'is not', null).limit(limit),
        ),
    );
    const { n } = await this.#access.read(systemScope(), (db) =>
      db
        .selectFrom('jobs')
        .select((of) => of.fn.countAll<number>().as('n'))
        .where('tenant', '=', tenant)
        .executeTakeFirstOrThrow(),
    );
    return Number(n);
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
