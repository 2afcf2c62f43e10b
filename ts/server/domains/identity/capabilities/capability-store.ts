/** Capability tokens and the keys that sign them. */
import { type StorageScope, systemScope, type TenantScope } from '../../../platform/storage/index.ts';
import type { AuditEntry } from '../audit/audit-entry.ts';
import { type IdentityWrites, unchanged } from '../changes/identity-writes.ts';
import type { Owner } from '../credentials/credential-store.ts';
import { type CapabilityKeyRow, type CapabilityRow, type IdentityStorage, within } from '../tables.ts';

interface CapabilityPage {
  /** Tokens behind this id. */
  after: string;
  limit: number;
  /** Only those of this account. */
  userId: string;
}

export interface CapabilityState {
  /** Undefined: the account was deleted. */
  owner: Owner | undefined;
  /** Those of the token and its parents that are known here, in no order. */
  rows: CapabilityRow[];
}

export class CapabilityStore {
  readonly #storage: IdentityStorage;
  readonly #writes: IdentityWrites;

  constructor(storage: IdentityStorage, writes: IdentityWrites) {
    this.#storage = storage;
    this.#writes = writes;
  }

  /** The number tells the tenant, so it is looked for in all of them. */
  findKey(number: number): Promise<CapabilityKeyRow | undefined> {
    return this.#storage.read(systemScope(), (db) =>
      db.selectFrom('identity_capability_keys').selectAll().where('number', '=', number).executeTakeFirst(),
    );
  }

  /** The tenant's pair of which this node has the private key. */
  findSigningKey(scope: TenantScope, sealedBy: string): Promise<CapabilityKeyRow | undefined> {
    return this.#storage.read(scope, (db) =>
      db
        .selectFrom('identity_capability_keys')
        .selectAll()
        .where(within(scope))
        .where('sealed_by', '=', sealedBy)
        .executeTakeFirst(),
    );
  }

  /** False: the tenant is gone. Throws StorageError unique_violation. */
  addKey(scope: TenantScope, row: CapabilityKeyRow, entry: AuditEntry): Promise<boolean> {
    return this.#writes.write(scope, async (tx) => {
      const tenant = await tx.selectFrom('identity_tenants').select('id').where('id', '=', row.tenant).executeTakeFirst();
      if (tenant === undefined) return unchanged(false);
      await tx.insertInto('identity_capability_keys').values(row).execute();
      return { result: true, entries: [entry] };
    });
  }

  async add(scope: TenantScope, row: CapabilityRow, entry: AuditEntry): Promise<void> {
    await this.#writes.write(scope, async (tx) => {
      await tx.insertInto('identity_capabilities').values(row).execute();
      return { result: undefined, entries: [entry] };
    });
  }

  /** What decides whether a verified token still works. */
  findState(scope: TenantScope, userId: string, revocationIds: readonly string[]): Promise<CapabilityState> {
    return this.#storage.read(scope, async (db) => ({
      owner: await db.selectFrom('identity_users').selectAll().where(within(scope)).where('id', '=', userId).executeTakeFirst(),
      rows: await db
        .selectFrom('identity_capabilities')
        .selectAll()
        .where(within(scope))
        .where('revocation_id', 'in', revocationIds)
        .execute(),
    }));
  }

  find(scope: StorageScope, id: string): Promise<CapabilityRow | undefined> {
    return this.#storage.read(scope, (db) =>
      db.selectFrom('identity_capabilities').selectAll().where(within(scope)).where('id', '=', id).executeTakeFirst(),
    );
  }

  /** Without revoked ones. */
  list(scope: TenantScope, { after, limit, userId }: CapabilityPage): Promise<CapabilityRow[]> {
    return this.#storage.read(scope, (db) =>
      db
        .selectFrom('identity_capabilities')
        .selectAll()
        .where(within(scope))
        .where('user_id', '=', userId)
        .where('id', '>', after)
        .where('revoked_at', 'is', null)
        .orderBy('id')
        .limit(limit)
        .execute(),
    );
  }

  /** Revokes a token that may have no row yet. False: it was revoked already. */
  revoke(scope: TenantScope, row: CapabilityRow, entry: AuditEntry): Promise<boolean> {
    return this.#writes.write(scope, async (tx) => {
      const known = await tx
        .selectFrom('identity_capabilities')
        .selectAll()
        .where(within(scope))
        .where('revocation_id', '=', row.revocation_id)
        .executeTakeFirst();
      if (known !== undefined && known.revoked_at !== null) return unchanged(false);
      const revoked = { ...(known ?? row), revoked_at: entry.at };
      if (known === undefined) await tx.insertInto('identity_capabilities').values(revoked).execute();
      else await tx.updateTable('identity_capabilities').set(revoked).where(within(scope)).where('id', '=', known.id).execute();
      return { result: true, entries: [{ ...entry, target: revoked.id }], changed: { tenant: row.tenant, user: row.user_id } };
    });
  }
}
