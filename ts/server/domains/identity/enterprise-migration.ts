/** Tables of groups, of links to sign-in providers and of invitations, and what accounts and tenants have beside since. */
import { sql } from 'kysely';
import { column, type MigrationSchema } from '../../platform/storage/index.ts';
import type { IdentityTables } from './tables.ts';

export async function createEnterpriseTables(schema: MigrationSchema): Promise<void> {
  await extendAccounts(schema);
  await createGroups(schema);
  await createLinks(schema);
  await createInvitations(schema);
}

async function extendAccounts(schema: MigrationSchema): Promise<void> {
  await schema.addColumn('identity_tenants', 'model_access', column.text({ default: 'open' }));
  await schema.addColumn('identity_tenants', 'namespace_access', column.text({ default: 'open' }));
  await schema.addColumn('identity_users', 'assigned_role', column.text({ default: 'viewer' }));
  await schema.addColumn('identity_users', 'external_id', column.text({ nullable: true }));
  await schema.addColumn('identity_users', 'profile', column.json({ default: '{}' }));
  await schema.addColumn('identity_users', 'updated_at', column.timestamp({ default: 0 }));
  const before = { assigned_role: sql<never>`role`, updated_at: sql<number>`created_at` };
  await schema.db<IdentityTables>().updateTable('identity_users').set(before).execute();
  await schema.index('identity_users_by_external_id', 'identity_users', ['tenant', 'external_id']);
  await schema.index('identity_users_by_age', 'identity_users', ['tenant', 'created_at', 'id']);
}

async function createGroups(schema: MigrationSchema): Promise<void> {
  await schema.tenantTable('identity_groups', {
    columns: {
      id: column.id(),
      name: column.text(),
      name_key: column.text(),
      description: column.text(),
      role: column.text({ nullable: true }),
      models: column.json(),
      namespaces: column.json(),
      external_id: column.text({ nullable: true }),
      created_at: column.timestamp(),
      updated_at: column.timestamp(),
    },
    primaryKey: ['id'],
    unique: [['tenant', 'name_key']],
  });
  await schema.index('identity_groups_by_external_id', 'identity_groups', ['tenant', 'external_id']);
  await schema.tenantTable('identity_group_members', {
    columns: { group_id: column.id(), user_id: column.id(), source: column.text() },
    primaryKey: ['group_id', 'user_id', 'source'],
  });
  await schema.index('identity_group_members_by_user', 'identity_group_members', ['user_id', 'group_id']);
}

async function createLinks(schema: MigrationSchema): Promise<void> {
  await schema.tenantTable('identity_links', {
    columns: {
      issuer: column.text(),
      subject: column.text(),
      user_id: column.id(),
      is_managed: column.flag(),
      created_at: column.timestamp(),
    },
    primaryKey: ['issuer', 'subject'],
  });
  await schema.index('identity_links_by_user', 'identity_links', ['user_id']);
}

async function createInvitations(schema: MigrationSchema): Promise<void> {
  await schema.tenantTable('identity_invitations', {
    columns: {
      id: column.id(),
      hash: column.text(),
      note: column.text(),
      role: column.text(),
      groups: column.json(),
      max_uses: column.integer(),
      uses: column.integer({ default: 0 }),
      created_by: column.text({ nullable: true }),
      created_at: column.timestamp(),
      expires_at: column.timestamp(),
    },
    primaryKey: ['id'],
    unique: [['hash']],
  });
}
