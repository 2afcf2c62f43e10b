/** The plugins that tenants enabled, and what those keep. */
import type { TenantScope } from '../../../platform/storage/index.ts';
import { edgeError } from '../errors.ts';
import { type EdgeStorage, type PluginRow, within } from '../tables.ts';

/** The most that one plugin keeps for one tenant, keys and values together. */
const MAX_STORED_BYTES = 1024 * 1024;

export class PluginStore {
  readonly #storage: EdgeStorage;

  constructor(storage: EdgeStorage) {
    this.#storage = storage;
  }

  listEnabled(scope: TenantScope): Promise<PluginRow[]> {
    return this.#storage.read(scope, (db) => db.selectFrom('edge_plugins').selectAll().where(within(scope)).execute());
  }

  async enable(scope: TenantScope, { id, hash, enabled_at, enabled_by }: Omit<PluginRow, 'tenant'>): Promise<void> {
    const pinned = { hash, enabled_at, enabled_by };
    await this.#storage.writeUnit(scope, (db) => [
      db
        .insertInto('edge_plugins')
        .values({ tenant: scope.tenant, id, ...pinned })
        .onConflict((conflict) => conflict.columns(['tenant', 'id']).doUpdateSet(pinned)),
    ]);
  }

  async disable(scope: TenantScope, id: string): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db.deleteFrom('edge_plugins').where('tenant', '=', scope.tenant).where('id', '=', id),
    ]);
  }

  async get(scope: TenantScope, plugin: string, key: string): Promise<string | undefined> {
    const row = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('edge_plugin_values')
        .select('value')
        .where(within(scope))
        .where('plugin', '=', plugin)
        .where('key', '=', textOf(key))
        .executeTakeFirst(),
    );
    return row === undefined ? undefined : (JSON.parse(row.value) as string);
  }

  /** Throws `budget_exceeded` where the plugin would keep too much. */
  async set(scope: TenantScope, plugin: string, name: string, text: string): Promise<void> {
    const { tenant } = scope;
    const [key, value] = [textOf(name), textOf(text)];
    const bytes = Buffer.byteLength(key) + Buffer.byteLength(value);
    const others = await this.#storage.write(scope, async (tx) => {
      const { sum } = await tx
        .selectFrom('edge_plugin_values')
        .select((eb) => eb.fn.sum<number | string | null>('bytes').as('sum'))
        .where('tenant', '=', tenant)
        .where('plugin', '=', plugin)
        .where('key', '!=', key)
        .executeTakeFirstOrThrow();
      const nOther = Number(sum ?? 0);
      if (nOther + bytes <= MAX_STORED_BYTES)
        await tx
          .insertInto('edge_plugin_values')
          .values({ tenant, plugin, key, value, bytes })
          .onConflict((conflict) => conflict.columns(['tenant', 'plugin', 'key']).doUpdateSet({ value, bytes }))
          .execute();
      return nOther;
    });
    if (others + bytes > MAX_STORED_BYTES)
      throw edgeError('budget_exceeded', `${plugin} keeps ${others} bytes already, of ${MAX_STORED_BYTES}.`);
  }

  async delete(scope: TenantScope, plugin: string, key: string): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db
        .deleteFrom('edge_plugin_values')
        .where('tenant', '=', scope.tenant)
        .where('plugin', '=', plugin)
        .where('key', '=', textOf(key)),
    ]);
  }
}

/** A text may hold what no column takes. */
function textOf(value: string): string {
  return JSON.stringify(value.toWellFormed());
}
