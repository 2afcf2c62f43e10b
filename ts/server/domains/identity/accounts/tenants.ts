/** The tenants, in memory for the rules that each request asks for, and in the database. */
import type { Principal } from '../../../platform/http/principal.ts';
import type { TenantRules } from '../../../platform/module/tenant-rules.ts';
import { isSystemScope } from '../../../platform/storage/index.ts';
import { type AuditSource, auditEntry } from '../audit/audit-entry.ts';
import type { CredentialChange } from '../changes/credential-change.ts';
import { identityError, translateUniqueViolation } from '../errors.ts';
import type { TenantRow, UseAccess } from '../tables.ts';
import { administeredScope } from './reach.ts';
import type { TenantChanges, TenantStore } from './tenant-store.ts';

export interface NewTenant {
  id: string;
  name: string | undefined;
  tokensPerMinute: number | undefined;
  priority: boolean | undefined;
  modelAccess: UseAccess | undefined;
  namespaceAccess: UseAccess | undefined;
}

export const FIRST_TENANT = 'default';

export class Tenants implements TenantRules {
  readonly #store: TenantStore;
  readonly #onRemoved: (change: CredentialChange) => void;
  #byId: ReadonlyMap<string, TenantRow> = new Map();

  /** `onRemoved`: credentials of the tenant ended. */
  constructor(store: TenantStore, onRemoved: (change: CredentialChange) => void) {
    this.#store = store;
    this.#onRemoved = onRemoved;
  }

  /** Reads the tenants anew, as another process may have changed them. */
  async refresh(): Promise<void> {
    const rows = await this.#store.all();
    this.#byId = new Map(rows.map((row) => [row.id, row]));
  }

  tokensPerMinute(tenant: string): number | undefined {
    return this.#byId.get(tenant)?.tokens_per_minute ?? undefined;
  }

  allowsPriority(tenant: string): boolean {
    return this.#byId.get(tenant)?.priority === 1;
  }

  /** Whether all models, and all knowledge bases, may be used, or those that groups grant. */
  useAccess(tenant: string): { models: UseAccess; namespaces: UseAccess } {
    const row = this.#byId.get(tenant);
    return { models: row?.model_access ?? 'open', namespaces: row?.namespace_access ?? 'open' };
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** The tenant in which a caller makes something. Throws `tenant_not_found` for one that the caller does not administer, as for an unknown one. */
  administered(asked: string | undefined, caller: Principal): string {
    const tenant = asked ?? caller.tenant;
    const scope = administeredScope(caller);
    const isForeign = !isSystemScope(scope) && scope.tenant !== tenant;
    if (isForeign || !this.has(tenant)) throw tenantNotFound(tenant);
    return tenant;
  }

  /** Those that the caller administers, by id. */
  list(caller: Principal): TenantRow[] {
    const scope = administeredScope(caller);
    const all = [...this.#byId.values()];
    return isSystemScope(scope) ? all : all.filter(({ id }) => id === scope.tenant);
  }

  async create(
    { id, name, tokensPerMinute, priority, modelAccess, namespaceAccess }: NewTenant,
    source: AuditSource,
  ): Promise<TenantRow> {
    const row: TenantRow = {
      id,
      name: name ?? id,
      tokens_per_minute: tokensPerMinute ?? null,
      priority: priority === true ? 1 : 0,
      created_at: Date.now(),
      model_access: modelAccess ?? 'open',
      namespace_access: namespaceAccess ?? 'open',
    };
    const taken = identityError('tenant_exists', `There is a tenant ${id} already; choose another id.`);
    await this.#store
      .create(row, auditEntry(source, { action: 'tenant.create', target: id }))
      .catch((error: unknown) => translateUniqueViolation(error, taken));
    await this.refresh();
    return row;
  }

  async update(id: string, changes: TenantChanges, source: AuditSource): Promise<TenantRow> {
    const row = await this.#store.update(
      id,
      changes,
      auditEntry(source, { action: 'tenant.update', target: id, detail: changes }),
    );
    if (row === undefined) throw tenantNotFound(id);
    await this.refresh();
    return row;
  }

  /** With `force` its accounts go too. */
  async remove(id: string, force: boolean, source: AuditSource): Promise<void> {
    if (id === FIRST_TENANT) throw identityError('forbidden', `The tenant ${id} is where accounts register; it stays.`);
    const entry = auditEntry(source, { action: 'tenant.delete', target: id, detail: { force } });
    await this.#store.remove(
      id,
      (found) => {
        if (found === undefined) throw tenantNotFound(id);
        if (found.nUsers > 0 && !force) {
          throw identityError('tenant_not_empty', `The tenant ${id} has ${found.nUsers} accounts; ?force=true deletes them too.`);
        }
        if (found.nUsers > 0 && found.nSuperadminsElsewhere === 0) {
          throw identityError('last_superadmin', 'No superadmin would be left; make one in another tenant first.');
        }
      },
      entry,
    );
    this.#onRemoved({ tenant: id, user: undefined, requestId: source.requestId });
    await this.refresh();
  }
}

export function tenantNotFound(id: string): Error {
  return identityError('tenant_not_found', `There is no tenant ${id.slice(0, 128)}.`);
}
