/** The store keeps the decisions of tenants about sources, and the requests of their members. */
import type { SystemScope, TenantScope } from '../../platform/storage/index.ts';
import type { RequestRow, ScienceStorage, SourceRow } from './tables.ts';

/** A tenant keeps so many; the oldest go first. */
const MOST_REQUESTS = 1_000;

export class SourceStore {
  readonly #storage: ScienceStorage;

  constructor(storage: ScienceStorage) {
    this.#storage = storage;
  }

  list(scope: TenantScope): Promise<SourceRow[]> {
    return this.#storage.read(scope, (db) =>
      db.selectFrom('science_sources').selectAll().where('tenant', '=', scope.tenant).execute(),
    );
  }

  /** Requests for a source that is enabled are answered with it. */
  async set(scope: TenantScope, { source, ...changes }: Omit<SourceRow, 'tenant'>): Promise<void> {
    const { tenant } = scope;
    await this.#storage.writeUnit(scope, (db) => [
      db
        .insertInto('science_sources')
        .values({ tenant, source, ...changes })
        .onConflict((conflict) => conflict.columns(['tenant', 'source']).doUpdateSet(changes)),
      ...(changes.enabled === 0
        ? []
        : [
            db
              .updateTable('science_requests')
              .set({ state: 'enabled', decided_at: changes.updated_at })
              .where('tenant', '=', tenant)
              .where('source', '=', source)
              .where('state', '=', 'waiting'),
          ]),
    ]);
  }

  /** The one that waits already, where the owner asked for the source before. */
  async request(scope: TenantScope, row: Omit<RequestRow, 'tenant'>): Promise<RequestRow> {
    const { tenant } = scope;
    return await this.#storage.write(scope, async (tx) => {
      const before = await tx
        .selectFrom('science_requests')
        .selectAll()
        .where('tenant', '=', tenant)
        .where('source', '=', row.source)
        .where('owner', '=', row.owner)
        .where('state', '=', 'waiting')
        .executeTakeFirst();
      if (before !== undefined) return before;
      const made = { tenant, ...row };
      await tx.insertInto('science_requests').values(made).execute();
      const old = await tx
        .selectFrom('science_requests')
        .select('id')
        .where('tenant', '=', tenant)
        .orderBy('id', 'desc')
        .offset(MOST_REQUESTS)
        .limit(MOST_REQUESTS)
        .execute();
      if (old.length > 0)
        await tx
          .deleteFrom('science_requests')
          .where('tenant', '=', tenant)
          .where(
            'id',
            'in',
            old.map(({ id }) => id),
          )
          .execute();
      return made;
    });
  }

  /** Newest first. `owner`: only theirs. */
  requests(
    scope: TenantScope,
    owner: string | undefined,
    { after, limit }: { after: string; limit: number },
  ): Promise<RequestRow[]> {
    return this.#storage.read(scope, (db) => {
      let query = db
        .selectFrom('science_requests')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .orderBy('id', 'desc')
        .limit(limit);
      if (owner !== undefined) query = query.where('owner', '=', owner);
      if (after !== '') query = query.where('id', '<', after);
      return query.execute();
    });
  }

  /** False: there is no such request that waits. */
  async decline(scope: TenantScope, id: string, now: number): Promise<boolean> {
    const [changed] = await this.#storage.writeUnit(scope, (db) => [
      db
        .updateTable('science_requests')
        .set({ state: 'declined', decided_at: now })
        .where('tenant', '=', scope.tenant)
        .where('id', '=', id)
        .where('state', '=', 'waiting'),
    ]);
    return changed?.affectedRows === 1;
  }

  async eraseTenant(scope: TenantScope): Promise<void> {
    await this.#storage.writeUnit(scope, (db) =>
      (['science_sources', 'science_requests'] as const).map((table) => db.deleteFrom(table).where('tenant', '=', scope.tenant)),
    );
  }

  async eraseAccount(everyone: SystemScope, accountId: string): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [db.deleteFrom('science_requests').where('owner', '=', `user:${accountId}`)]);
  }
}
