/** How the pages of a tenant look: one row of each tenant that chose anything. */
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { AuditEntry } from '../audit/audit-entry.ts';
import type { IdentityWrites } from '../changes/identity-writes.ts';
import { type BrandingRow, type IdentityStorage, within } from '../tables.ts';

type BrandingChanges = Partial<Omit<BrandingRow, 'tenant' | 'updated_at'>>;

const NOTHING = { name: null, accent: null, accent_dark: null, welcome: null, logo: null, logo_hash: null };

export class BrandingStore {
  readonly #storage: IdentityStorage;
  readonly #writes: IdentityWrites;

  constructor(storage: IdentityStorage, writes: IdentityWrites) {
    this.#storage = storage;
    this.#writes = writes;
  }

  find(scope: TenantScope): Promise<BrandingRow | undefined> {
    return this.#storage.read(scope, (db) =>
      db.selectFrom('identity_branding').selectAll().where(within(scope)).executeTakeFirst(),
    );
  }

  /** What is not named stays. */
  change(scope: TenantScope, changes: BrandingChanges, entry: AuditEntry): Promise<BrandingRow> {
    return this.#writes.write(scope, async (tx) => {
      const known = await tx.selectFrom('identity_branding').selectAll().where(within(scope)).executeTakeFirst();
      const row: BrandingRow = { ...NOTHING, ...known, ...changes, tenant: scope.tenant, updated_at: Date.now() };
      await tx.deleteFrom('identity_branding').where(within(scope)).execute();
      await tx.insertInto('identity_branding').values(row).execute();
      return { result: row, entries: [entry] };
    });
  }
}
