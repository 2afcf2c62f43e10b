/** Webhooks as their tenants handle them, and which of them are told of an event. */
import { isSystemScope, type StorageScope, systemScope, type TenantScope } from '../../../platform/storage/index.ts';
import { type WebhookRow, type WebhookStorage, within } from './tables.ts';

export type WebhookChanges = Partial<
  Pick<WebhookRow, 'events' | 'of_node' | 'description' | 'disabled_at' | 'disabled_reason' | 'failing_since'>
>;

export class WebhookStore {
  readonly #storage: WebhookStorage;

  constructor(storage: WebhookStorage) {
    this.#storage = storage;
  }

  /** False: the tenant has as many as it may have. */
  add(scope: TenantScope, row: WebhookRow, most: number): Promise<boolean> {
    return this.#storage.write(scope, async (tx) => {
      const all = await tx.selectFrom('webhooks').select('id').where(within(scope)).limit(most).execute();
      if (all.length >= most) return false;
      await tx.insertInto('webhooks').values(row).execute();
      return true;
    });
  }

  find(scope: TenantScope, id: string): Promise<WebhookRow | undefined> {
    return this.#storage.read(scope, (db) =>
      db.selectFrom('webhooks').selectAll().where(within(scope)).where('id', '=', id).executeTakeFirst(),
    );
  }

  list(scope: TenantScope): Promise<WebhookRow[]> {
    return this.#storage.read(scope, (db) => db.selectFrom('webhooks').selectAll().where(within(scope)).orderBy('id').execute());
  }

  /** Undefined: the tenant has no such webhook. */
  async update(scope: TenantScope, id: string, changes: WebhookChanges): Promise<WebhookRow | undefined> {
    const [updated] = await this.#storage.writeUnit(scope, (db) => [
      db.updateTable('webhooks').set(changes).where(within(scope)).where('id', '=', id).returningAll(),
    ]);
    return updated?.rows[0] as WebhookRow | undefined;
  }

  /** Undefined: the tenant has no such webhook. */
  async rotateSecret(scope: TenantScope, id: string, secret: string, previousUntil: number): Promise<WebhookRow | undefined> {
    const [updated] = await this.#storage.writeUnit(scope, (db) => [
      db
        .updateTable('webhooks')
        .set(({ ref }) => ({ previous_secret: ref('secret'), previous_secret_until: previousUntil, secret }))
        .where(within(scope))
        .where('id', '=', id)
        .returningAll(),
    ]);
    return updated?.rows[0] as WebhookRow | undefined;
  }

  /** Its deliveries go with it. */
  async remove(scope: TenantScope, id: string): Promise<boolean> {
    const [removed] = await this.#storage.writeUnit(scope, (db) => [
      db.deleteFrom('webhooks').where(within(scope)).where('id', '=', id),
    ]);
    return removed?.affectedRows === 1;
  }

  /** All of a tenant that is no more. */
  async removeTenant(tenant: string): Promise<void> {
    await this.#storage.writeUnit(systemScope(), (db) => [db.deleteFrom('webhooks').where('tenant', '=', tenant)]);
  }

  /** Those that are not disabled: of a tenant, or for what concerns no tenant those of the whole node. */
  listToTell(scope: StorageScope): Promise<WebhookRow[]> {
    return this.#storage.read(systemScope(), (db) => {
      const enabled = db.selectFrom('webhooks').selectAll().where('disabled_at', 'is', null);
      return (isSystemScope(scope) ? enabled.where('of_node', '=', 1) : enabled.where('tenant', '=', scope.tenant)).execute();
    });
  }
}
