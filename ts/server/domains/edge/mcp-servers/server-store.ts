/** The MCP servers of tenants on disk, and what a person is signed in to them with. */
import type { TenantScope } from '../../../platform/storage/index.ts';
import { type EdgeStorage, type McpServerRow, type McpTokenRow, within } from '../tables.ts';
import { PLACED_PREFIX } from './placed-servers.ts';

type McpServerChanges = Partial<Omit<McpServerRow, 'tenant' | 'label' | 'created_at'>>;

export class McpServerStore {
  readonly #storage: EdgeStorage;

  constructor(storage: EdgeStorage) {
    this.#storage = storage;
  }

  list(scope: TenantScope): Promise<McpServerRow[]> {
    return this.#storage.read(scope, (db) =>
      db.selectFrom('edge_mcp_servers').selectAll().where(within(scope)).orderBy('label').execute(),
    );
  }

  find(scope: TenantScope, label: string): Promise<McpServerRow | undefined> {
    return this.#storage.read(scope, (db) =>
      db.selectFrom('edge_mcp_servers').selectAll().where(within(scope)).where('label', '=', label).executeTakeFirst(),
    );
  }

  /** Throws StorageError `unique_violation` where the label is taken. */
  async add(scope: TenantScope, row: McpServerRow): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [db.insertInto('edge_mcp_servers').values(row)]);
  }

  /**
   * Takes the place of another program of that label. A row of the same program stays as it is, since several requests may have seen the same file, and so
   * does a server that was registered by its address.
   */
  async place(scope: TenantScope, row: McpServerRow): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db
        .deleteFrom('edge_mcp_servers')
        .where(within(scope))
        .where('label', '=', row.label)
        .where('url', 'like', `${PLACED_PREFIX}%`)
        .where('url', '<>', row.url),
      db
        .insertInto('edge_mcp_servers')
        .values(row)
        .onConflict((conflict) => conflict.columns(['tenant', 'label']).doNothing()),
    ]);
  }

  async change(scope: TenantScope, label: string, changes: McpServerChanges): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db.updateTable('edge_mcp_servers').set(changes).where(within(scope)).where('label', '=', label),
    ]);
  }

  /** Approves what was seen, if it is still what the hash says. False: it is not. */
  async approve(scope: TenantScope, label: string, hash: string, now: number): Promise<boolean> {
    const [result] = await this.#storage.writeUnit(scope, (db) => [
      db
        .updateTable('edge_mcp_servers')
        .set(({ ref }) => ({ approved: ref('seen'), approved_hash: hash, updated_at: now }))
        .where(within(scope))
        .where('label', '=', label)
        .where('seen_hash', '=', hash),
    ]);
    return (result?.affectedRows ?? 0) > 0;
  }

  /** The tokens of people go with it. */
  async remove(scope: TenantScope, label: string): Promise<boolean> {
    const [result] = await this.#storage.writeUnit(scope, (db) => [
      db.deleteFrom('edge_mcp_servers').where(within(scope)).where('label', '=', label),
      db.deleteFrom('edge_mcp_tokens').where(within(scope)).where('label', '=', label),
    ]);
    return (result?.affectedRows ?? 0) > 0;
  }

  findToken(scope: TenantScope, label: string, owner: string): Promise<McpTokenRow | undefined> {
    return this.#storage.read(scope, (db) =>
      db
        .selectFrom('edge_mcp_tokens')
        .selectAll()
        .where(within(scope))
        .where('label', '=', label)
        .where('owner', '=', owner)
        .executeTakeFirst(),
    );
  }

  async saveToken(scope: TenantScope, row: McpTokenRow): Promise<void> {
    const { sealed, sealed_by, updated_at } = row;
    await this.#storage.writeUnit(scope, (db) => [
      db
        .insertInto('edge_mcp_tokens')
        .values(row)
        .onConflict((conflict) => conflict.columns(['tenant', 'label', 'owner']).doUpdateSet({ sealed, sealed_by, updated_at })),
    ]);
  }

  /** Tokens that were granted for another address are worth nothing at this one. */
  async forgetTokens(scope: TenantScope, label: string): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db.deleteFrom('edge_mcp_tokens').where(within(scope)).where('label', '=', label),
    ]);
  }
}
