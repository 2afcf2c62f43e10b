/** The tenants of the installation. They belong to nobody's scope: who may see them, the service decides. */
import type { Kysely } from 'kysely';
import { systemScope } from '../../../platform/storage/index.ts';
import type { AuditEntry } from '../audit/audit-entry.ts';
import { type IdentityWrites, unchanged } from '../changes/identity-writes.ts';
import { identityError } from '../errors.ts';
import type { IdentityStorage, IdentityTables, TenantRow } from '../tables.ts';
import type { Superadmins } from './superadmins.ts';

export type TenantChanges = Partial<Pick<TenantRow, 'name' | 'tokens_per_minute' | 'priority'>>;

export class TenantStore {
  readonly #storage: IdentityStorage;
  readonly #writes: IdentityWrites;
  readonly #superadmins: Superadmins;

  constructor(storage: IdentityStorage, writes: IdentityWrites, superadmins: Superadmins) {
    this.#storage = storage;
    this.#writes = writes;
    this.#superadmins = superadmins;
  }

  all(): Promise<TenantRow[]> {
    return this.#storage.read(systemScope(), (db) => db.selectFrom('identity_tenants').selectAll().orderBy('id').execute());
  }

  /** Throws StorageError unique_violation, and `tenant_id_used` for the id of a tenant that was deleted. */
  async create(row: TenantRow, entry: AuditEntry): Promise<void> {
    await this.#writes.write(systemScope(), async (tx) => {
      const deleted = await tx.selectFrom('identity_deleted_tenants').select('id').where('id', '=', row.id).executeTakeFirst();
      if (deleted !== undefined) throw tenantIdUsed(row.id);
      await tx.insertInto('identity_tenants').values(row).execute();
      return { result: undefined, entries: [entry] };
    });
  }

  /** Undefined: there is no such tenant. */
  update(id: string, change: (before: TenantRow) => Partial<TenantRow>, entry: AuditEntry): Promise<TenantRow | undefined> {
    return this.#writes.write(systemScope(), async (tx) => {
      const row = await tx.selectFrom('identity_tenants').selectAll().where('id', '=', id).executeTakeFirst();
      if (row === undefined) return unchanged(undefined);
      const updated = { ...row, ...change(row) };
      await tx.updateTable('identity_tenants').set(updated).where('id', '=', id).execute();
      return { result: updated, entries: [entry] };
    });
  }

  /** Accounts and credentials go with it when `check` lets it pass. `nUsers` are those that it has. Throws `last_superadmin`. */
  async remove(id: string, check: (found: TenantUse | undefined) => void, entry: AuditEntry): Promise<void> {
    await this.#writes.write(systemScope(), async (tx) => {
      check(await readUse(tx, id));
      const revoked_at = Date.now();
      await tx
        .updateTable('identity_api_keys')
        .set({ revoked_at })
        .where('tenant', '=', id)
        .where('revoked_at', 'is', null)
        .execute();
      await this.#superadmins.guard(tx, async () => {
        for (const table of TABLES_OF_TENANTS) await tx.deleteFrom(table).where('tenant', '=', id).execute();
      });
      await tx.deleteFrom('identity_tenants').where('id', '=', id).execute();
      await tx.insertInto('identity_deleted_tenants').values({ id, deleted_at: revoked_at }).execute();
      return { result: undefined, entries: [entry], changed: { tenant: id, user: undefined } };
    });
  }
}

function tenantIdUsed(id: string): Error {
  const detail = `A tenant ${id} was deleted, and what still names it, backups and logs for example, must not become another tenant's. Choose another id.`;
  return identityError('tenant_id_used', detail);
}

/** What goes with a tenant. Keys stay as revoked ones. */
const TABLES_OF_TENANTS = [
  'identity_sessions',
  'identity_password_resets',
  'identity_group_members',
  'identity_groups',
  'identity_links',
  'identity_invitations',
  'identity_capabilities',
  'identity_capability_keys',
  'identity_branding',
  'identity_users',
] as const;

interface TenantUse {
  nUsers: number;
}

async function readUse(tx: Kysely<IdentityTables>, id: string): Promise<TenantUse | undefined> {
  const tenant = await tx.selectFrom('identity_tenants').select('id').where('id', '=', id).executeTakeFirst();
  if (tenant === undefined) return undefined;
  const users = await tx.selectFrom('identity_users').select('id').where('tenant', '=', id).execute();
  return { nUsers: users.length };
}
