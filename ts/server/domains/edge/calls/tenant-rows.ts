/** Reads at once what the database has about the tools of a tenant: each call of a tool needs it. */
import { sql } from 'kysely';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { DEFAULT_POLICY, type Policy } from '../policies/policy.ts';
import { type EdgeStorage, type McpServerRow, type PluginRow, within } from '../tables.ts';

export interface TenantRows {
  /** A search provider is chosen. */
  readonly hasSearch: boolean;
  readonly plugins: readonly Pick<PluginRow, 'id' | 'hash'>[];
  readonly mcpServers: readonly McpServerRow[];
  readonly policy: Policy;
}

export function readTenantRows(storage: EdgeStorage, scope: TenantScope): Promise<TenantRows> {
  const kind = (name: 'search' | 'plugin' | 'policy') => sql<typeof name>`${sql.lit(name)}`.as('kind');
  return storage.read(scope, async (db) => {
    // One statement for what is small: each is a way to another thread, or to another machine.
    const small = await db
      .selectFrom('edge_policies')
      .select([kind('policy'), sql<string>`''`.as('id'), 'policy as value'])
      .where(within(scope))
      .unionAll(
        db
          .selectFrom('edge_plugins')
          .select([kind('plugin'), 'id', 'hash as value'])
          .where(within(scope)),
      )
      .unionAll(
        db
          .selectFrom('edge_search')
          .select([kind('search'), 'provider as id', sql<string>`''`.as('value')])
          .where(within(scope)),
      )
      .execute();
    const mcpServers = await db.selectFrom('edge_mcp_servers').selectAll().where(within(scope)).orderBy('label').execute();
    const policy = small.find((row) => row.kind === 'policy');
    return {
      hasSearch: small.some((row) => row.kind === 'search'),
      plugins: small.filter((row) => row.kind === 'plugin').map(({ id, value }) => ({ id, hash: value })),
      mcpServers,
      policy: policy === undefined ? DEFAULT_POLICY : (JSON.parse(policy.value) as Policy),
    };
  });
}
