/** The quotas, in memory for each request that asks, and in the database. */
import type { TenantRules } from '../../../platform/module/tenant-rules.ts';
import type { StorageScope, SystemScope, TenantScope } from '../../../platform/storage/index.ts';
import type { QuotaLimits } from '../limits/quota-limits.ts';
import type { SubjectKind } from '../tables.ts';
import { type Quota, quotaOf } from './quota.ts';
import type { LimitColumns, QuotaStore } from './quota-store.ts';

interface QuotasDeps {
  store: QuotaStore;
  everyone: SystemScope;
  tenants: TenantRules;
  /** Of tenants for which neither a quota nor the tenant itself says; undefined: no limit. */
  tenantTokensPerMinute: number | undefined;
}

export class Quotas {
  readonly #deps: QuotasDeps;
  #byName: ReadonlyMap<string, QuotaLimits> = new Map();

  constructor(deps: QuotasDeps) {
    this.#deps = deps;
  }

  /** Reads the quotas anew, as another process may have changed them. */
  async refresh(): Promise<void> {
    const rows = await this.#deps.store.list(this.#deps.everyone);
    this.#byName = new Map(rows.map(quotaOf).map((quota) => [nameOf(quota.tenant, quota.kind, quota.subject), quota.limits]));
  }

  async list(scope: StorageScope): Promise<Quota[]> {
    return (await this.#deps.store.list(scope)).map(quotaOf);
  }

  async update(scope: TenantScope, kind: SubjectKind, subject: string, changes: Partial<LimitColumns>): Promise<Quota> {
    const row = await this.#deps.store.update(scope, kind, subject, changes);
    await this.refresh();
    return quotaOf(row);
  }

  /** A quota of metering goes before what the tenant itself says, and that before the setting. Undefined: the subject has no limits. */
  readonly find = (tenant: string, kind: SubjectKind, id: string): QuotaLimits | undefined => {
    const limits = this.#byName.get(nameOf(tenant, kind, id));
    if (kind !== 'tenant') return limits;
    const tokensPerMinute =
      limits?.tokensPerMinute ?? this.#deps.tenants.tokensPerMinute(tenant) ?? this.#deps.tenantTokensPerMinute;
    return limits === undefined && tokensPerMinute === undefined ? undefined : { ...limits, tokensPerMinute };
  };
}

/** No id has a space. */
function nameOf(tenant: string, kind: SubjectKind, id: string): string {
  return `${kind} ${tenant} ${id}`;
}
