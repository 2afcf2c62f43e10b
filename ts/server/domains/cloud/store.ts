/** Backends, routes and prices on disk. They belong to nodes, and to no tenant. */
import { column, type Migration, type StorageAccess, systemScope } from '../../platform/storage/index.ts';

/** JSON columns are texts. */
export interface BackendRow {
  node: string;
  id: string;
  kind: string;
  base_url: string;
  /** The options, which are no secret, no state and no name: BackendOptions. */
  options: string;
  enabled: number;
  /** For the backend's id and origin alone; null: none. */
  sealed_key: string | null;
  api_key_env: string | null;
  /** Names with sealed values. */
  sealed_headers: string;
  /** As the provider listed them the last time: ListedModel[]; null: never. */
  models: string | null;
  checked_at: number | null;
  /** Why it is left out until an administrator has looked: ServingReason; null: it is not. */
  reason: string | null;
  created_at: number;
}

/** The sealed members of a backend. */
export type Secrets = Pick<BackendRow, 'id' | 'sealed_key' | 'sealed_headers'>;

interface RouteRow {
  node: string;
  id: string;
  route: string;
}

interface PriceRow {
  node: string;
  model: string;
  price: string;
}

interface CloudTables {
  cloud_backends: BackendRow;
  cloud_routes: RouteRow;
  cloud_prices: PriceRow;
}

export const cloudMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create backends, routes and prices',
    up: async (schema) => {
      await schema.table('cloud_backends', {
        columns: {
          node: column.id(),
          id: column.id(),
          kind: column.text(),
          base_url: column.text(),
          options: column.json(),
          enabled: column.flag(),
          sealed_key: column.text({ nullable: true }),
          api_key_env: column.text({ nullable: true }),
          sealed_headers: column.json(),
          models: column.json({ nullable: true }),
          checked_at: column.timestamp({ nullable: true }),
          reason: column.json({ nullable: true }),
          created_at: column.timestamp(),
        },
        primaryKey: ['node', 'id'],
      });
      await schema.table('cloud_routes', {
        columns: { node: column.id(), id: column.id(), route: column.json() },
        primaryKey: ['node', 'id'],
      });
      await schema.table('cloud_prices', {
        columns: { node: column.id(), model: column.id(), price: column.json() },
        primaryKey: ['node', 'model'],
      });
    },
  },
];

export class CloudStore {
  readonly #storage: StorageAccess<CloudTables>;
  readonly #nodeId: () => string;
  readonly #everyone = systemScope();

  constructor(storage: StorageAccess<CloudTables>, nodeId: () => string) {
    this.#storage = storage;
    this.#nodeId = nodeId;
  }

  /** Reads the backends of all nodes of the database. */
  backends(): Promise<BackendRow[]> {
    return this.#storage.read(this.#everyone, (db) => db.selectFrom('cloud_backends').selectAll().orderBy('id').execute());
  }

  /** False: the node has one of that name. */
  async add(row: Omit<BackendRow, 'node'>): Promise<boolean> {
    const [added] = await this.#storage.writeUnit(this.#everyone, (db) => [
      db
        .insertInto('cloud_backends')
        .values({ ...row, node: this.#nodeId() })
        .onConflict((conflict) => conflict.columns(['node', 'id']).doNothing()),
    ]);
    return added?.affectedRows === 1;
  }

  /** False: there is none any more. */
  async update(id: string, changes: Partial<Omit<BackendRow, 'node' | 'id'>>): Promise<boolean> {
    const [updated] = await this.#storage.writeUnit(this.#everyone, (db) => [
      db.updateTable('cloud_backends').set(changes).where('node', '=', this.#nodeId()).where('id', '=', id),
    ]);
    return updated?.affectedRows === 1;
  }

  async remove(id: string): Promise<boolean> {
    const [removed] = await this.#storage.writeUnit(this.#everyone, (db) => [
      db.deleteFrom('cloud_backends').where('node', '=', this.#nodeId()).where('id', '=', id),
    ]);
    return removed?.affectedRows === 1;
  }

  /** Gives this node the named backends of another one, with these secrets, and its routes and prices that this node lacks. All else of that node goes. */
  async take(from: string, backends: readonly Secrets[]): Promise<void> {
    const node = this.#nodeId();
    await this.#storage.writeUnit(this.#everyone, (db) => [
      ...backends.map(({ id, ...secrets }) =>
        db
          .updateTable('cloud_backends')
          .set({ ...secrets, node, reason: null })
          .where('node', '=', from)
          .where('id', '=', id),
      ),
      db
        .updateTable('cloud_routes')
        .set({ node })
        .where('node', '=', from)
        .where('id', 'not in', db.selectFrom('cloud_routes').select('id').where('node', '=', node)),
      db
        .updateTable('cloud_prices')
        .set({ node })
        .where('node', '=', from)
        .where('model', 'not in', db.selectFrom('cloud_prices').select('model').where('node', '=', node)),
      db.deleteFrom('cloud_backends').where('node', '=', from),
      db.deleteFrom('cloud_routes').where('node', '=', from),
      db.deleteFrom('cloud_prices').where('node', '=', from),
    ]);
  }

  routes(): Promise<RouteRow[]> {
    return this.#storage.read(this.#everyone, (db) =>
      db.selectFrom('cloud_routes').selectAll().where('node', '=', this.#nodeId()).orderBy('id').execute(),
    );
  }

  async putRoute(id: string, route: string): Promise<void> {
    await this.#storage.writeUnit(this.#everyone, (db) => [
      db
        .insertInto('cloud_routes')
        .values({ node: this.#nodeId(), id, route })
        .onConflict((conflict) => conflict.columns(['node', 'id']).doUpdateSet({ route })),
    ]);
  }

  async removeRoute(id: string): Promise<boolean> {
    const [removed] = await this.#storage.writeUnit(this.#everyone, (db) => [
      db.deleteFrom('cloud_routes').where('node', '=', this.#nodeId()).where('id', '=', id),
    ]);
    return removed?.affectedRows === 1;
  }

  prices(): Promise<PriceRow[]> {
    return this.#storage.read(this.#everyone, (db) =>
      db.selectFrom('cloud_prices').selectAll().where('node', '=', this.#nodeId()).orderBy('model').execute(),
    );
  }

  /** Puts these in place of all that were set before. */
  async replacePrices(prices: readonly Omit<PriceRow, 'node'>[]): Promise<void> {
    const node = this.#nodeId();
    await this.#storage.writeUnit(this.#everyone, (db) => [
      db.deleteFrom('cloud_prices').where('node', '=', node),
      ...prices.map((price) => db.insertInto('cloud_prices').values({ ...price, node })),
    ]);
  }
}
