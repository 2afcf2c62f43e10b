/** The tables of identity, step by step. What was released never changes. */
import { sql } from 'kysely';
import { column, type Migration, type MigrationSchema } from '../../platform/storage/index.ts';
import { beginChain } from './audit/audit-chain.ts';
import { beginVersions } from './changes/change-version.ts';
import { createEnterpriseTables } from './enterprise-migration.ts';
import type { IdentityTables, TenantRow } from './tables.ts';

export const identityMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create tenants, accounts, credentials and the audit log',
    up: async (schema) => {
      await createAccounts(schema);
      await createCredentials(schema);
      await createRecords(schema);
    },
  },
  {
    id: 2,
    name: 'capability tokens, service accounts and the version of the credentials',
    up: async (schema) => {
      await schema.addColumn('identity_users', 'service', column.flag({ default: 0 }));
      await createCapabilities(schema);
      await beginVersions(schema.db<IdentityTables>());
    },
  },
  { id: 3, name: 'create groups, links of sign-in providers and invitations', up: createEnterpriseTables },
  { id: 4, name: 'create the look of tenants\u2019 pages', up: createBranding },
  { id: 5, name: 'remember the ids of deleted tenants', up: createDeletedTenants },
  { id: 6, name: 'keep grants, limits and access by kind of things', up: keepByKind },
  { id: 7, name: 'remember the ids of deleted accounts', up: createDeletedUsers },
];

/** Each node asks for them, to erase what lies on it alone. */
async function createDeletedUsers(schema: MigrationSchema): Promise<void> {
  await schema.table('identity_deleted_users', {
    columns: { id: column.id(), deleted_at: column.timestamp() },
    primaryKey: ['id'],
  });
}

/** One column in place of one for models and one for knowledge bases, so that a module may register a kind. */
async function keepByKind(schema: MigrationSchema): Promise<void> {
  await schema.addColumn('identity_groups', 'grants', column.json({ default: '{}' }));
  await schema.addColumn('identity_capabilities', 'uses', column.json({ default: '{}' }));
  await schema.addColumn('identity_tenants', 'access', column.json({ default: '{}' }));
  const db = schema.db<IdentityTables>();
  const grants = sql<string>`'{"models":' || models || ',"namespaces":' || namespaces || '}'`;
  await db.updateTable('identity_groups').set({ grants }).execute();
  const uses = sql<string>`'{"models":' || coalesce(models, 'null') || ',"namespaces":' || coalesce(namespaces, 'null') || '}'`;
  await db.updateTable('identity_capabilities').set({ uses }).execute();
  const access = sql<string>`'{"models":"' || model_access || '","namespaces":"' || namespace_access || '"}'`;
  await db.updateTable('identity_tenants').set({ access }).execute();
  for (const table of ['identity_groups', 'identity_capabilities']) {
    await schema.dropColumn(table, 'models');
    await schema.dropColumn(table, 'namespaces');
  }
  for (const old of ['model_access', 'namespace_access']) await schema.dropColumn('identity_tenants', old);
}

/** Those that were deleted before are known from the audit log. */
async function createDeletedTenants(schema: MigrationSchema): Promise<void> {
  await schema.table('identity_deleted_tenants', {
    columns: { id: column.id(), deleted_at: column.timestamp() },
    primaryKey: ['id'],
  });
  await schema
    .db<IdentityTables>()
    .insertInto('identity_deleted_tenants')
    .columns(['id', 'deleted_at'])
    .expression((from) =>
      from
        .selectFrom('identity_audit')
        .select((eb) => ['target as id', eb.fn.max('at').as('deleted_at')])
        .where('action', '=', 'tenant.delete')
        .where('outcome', '=', 'done')
        .where('target', 'not in', from.selectFrom('identity_tenants').select('id'))
        .groupBy('target'),
    )
    .execute();
}

async function createBranding(schema: MigrationSchema): Promise<void> {
  await schema.tenantTable('identity_branding', {
    columns: {
      name: column.text({ nullable: true }),
      accent: column.text({ nullable: true }),
      accent_dark: column.text({ nullable: true }),
      welcome: column.text({ nullable: true }),
      logo: column.blob({ nullable: true }),
      logo_hash: column.text({ nullable: true }),
      updated_at: column.timestamp(),
    },
    primaryKey: ['tenant'],
  });
}

async function createCapabilities(schema: MigrationSchema): Promise<void> {
  await schema.tenantTable('identity_capability_keys', {
    columns: {
      number: column.integer(),
      sealed_by: column.id(),
      public_key: column.text(),
      private_key: column.text(),
      created_at: column.timestamp(),
    },
    primaryKey: ['number'],
    unique: [['tenant', 'sealed_by']],
  });
  await schema.tenantTable('identity_capabilities', {
    columns: {
      id: column.id(),
      revocation_id: column.text(),
      user_id: column.id(),
      parent_id: column.id({ nullable: true }),
      scopes: column.json(),
      models: column.json({ nullable: true }),
      namespaces: column.json({ nullable: true }),
      created_at: column.timestamp(),
      expires_at: column.timestamp(),
      revoked_at: column.timestamp({ nullable: true }),
    },
    primaryKey: ['id'],
    unique: [['revocation_id']],
  });
  await schema.index('identity_capabilities_by_user', 'identity_capabilities', ['user_id', 'id']);
}

async function createAccounts(schema: MigrationSchema): Promise<void> {
  await schema.table('identity_tenants', {
    columns: {
      id: column.id(),
      name: column.text(),
      tokens_per_minute: column.integer({ nullable: true }),
      priority: column.flag({ default: 0 }),
      created_at: column.timestamp(),
    },
    primaryKey: ['id'],
  });
  // A node with one tenant stays as it was without accounts: its requests may ask for priority.
  // The type has columns that a later migration adds.
  const first = { id: 'default', name: 'Default', tokens_per_minute: null, priority: 1, created_at: Date.now() };
  await schema
    .db<IdentityTables>()
    .insertInto('identity_tenants')
    .values(first as TenantRow)
    .execute();
  await schema.tenantTable('identity_users', {
    columns: {
      id: column.id(),
      username: column.text(),
      username_key: column.text(),
      email: column.text({ nullable: true }),
      email_key: column.text({ nullable: true }),
      role: column.text(),
      password_hash: column.text({ nullable: true }),
      disabled: column.flag({ default: 0 }),
      settings: column.json({ default: '{}' }),
      created_at: column.timestamp(),
      signed_in_at: column.timestamp({ nullable: true }),
    },
    primaryKey: ['id'],
    unique: [['username_key'], ['email_key']],
  });
  await schema.index('identity_users_by_tenant', 'identity_users', ['tenant', 'id']);
}

async function createCredentials(schema: MigrationSchema): Promise<void> {
  await schema.tenantTable('identity_api_keys', {
    columns: {
      id: column.id(),
      hash: column.text(),
      user_id: column.id(),
      name: column.text(),
      start: column.text(),
      scopes: column.json({ nullable: true }),
      created_at: column.timestamp(),
      expires_at: column.timestamp({ nullable: true }),
      revoked_at: column.timestamp({ nullable: true }),
      used_at: column.timestamp({ nullable: true }),
    },
    primaryKey: ['id'],
    unique: [['hash']],
  });
  await schema.index('identity_api_keys_by_user', 'identity_api_keys', ['user_id', 'id']);
  await schema.tenantTable('identity_sessions', {
    columns: {
      id: column.id(),
      hash: column.text(),
      user_id: column.id(),
      created_at: column.timestamp(),
      seen_at: column.timestamp(),
      expires_at: column.timestamp(),
      remote_address: column.text(),
      user_agent: column.text(),
    },
    primaryKey: ['id'],
    unique: [['hash']],
  });
  await schema.index('identity_sessions_by_user', 'identity_sessions', ['user_id', 'id']);
  await schema.tenantTable('identity_password_resets', {
    columns: { hash: column.text(), user_id: column.id(), expires_at: column.timestamp() },
    primaryKey: ['hash'],
  });
}

async function createRecords(schema: MigrationSchema): Promise<void> {
  await schema.table('identity_facts', { columns: { name: column.id(), value: column.text() }, primaryKey: ['name'] });
  await schema.table('identity_audit', {
    columns: {
      seq: column.integer(),
      at: column.timestamp(),
      tenant: column.text(),
      actor: column.text(),
      action: column.text(),
      target: column.text(),
      outcome: column.text(),
      detail: column.json(),
      remote_address: column.text(),
      request_id: column.text(),
      hash: column.text(),
    },
    primaryKey: ['seq'],
  });
  await beginChain(schema.db<IdentityTables>());
  await schema.index('identity_audit_by_tenant', 'identity_audit', ['tenant', 'seq']);
}
