/** The setting in which PostgreSQL finds the tenant of a transaction, and the value that stands for all tenants, which no tenant's id can be. */
export const TENANT_SETTING = 'svc.tenant';
export const ALL_TENANTS = '*';

/** Row-level security for a table with a column `tenant`. FORCE makes it hold for the table's owner, which is the role of the server. */
export function tenantPolicySql(quotedTable: string): string[] {
  const visible = `current_setting('${TENANT_SETTING}', true) in (tenant, '${ALL_TENANTS}')`;
  return [
    `alter table ${quotedTable} enable row level security`,
    `alter table ${quotedTable} force row level security`,
    `create policy svc_tenant on ${quotedTable} using (${visible}) with check (${visible})`,
  ];
}
