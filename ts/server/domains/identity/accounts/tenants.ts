/** The tenants, in memory for the rules that each request asks for, and in the database. */
import type { Principal } from '../../../platform/http/principal.ts';
import type { TenantRules } from '../../../platform/module/tenant-rules.ts';
import type { UseKind } from '../../../platform/module/use-rules.ts';
import { isSystemScope } from '../../../platform/storage/index.ts';
import { type AuditSource, auditEntry } from '../audit/audit-entry.ts';
import type { CredentialChange } from '../changes/credential-change.ts';
import { identityError, translateUniqueViolation } from '../errors.ts';
import type { AuthenticationSwitch } from '../identity-authenticator.ts';
import { accessOf, writeByKind } from '../members-by-kind.ts';
import type { TenantRow, UseAccess } from '../tables.ts';
import { administeredScope } from './access-check.ts';
import type { TenantChanges, TenantStore } from './tenant-store.ts';

interface NewTenant {
  id: string;
  name: string | undefined;
  tokensPerMinute: number | undefined;
  priority: boolean | undefined;
  access: AccessByKind;
}

/** By kind of things; a kind that is absent is open, or stays as it is. */
export type AccessByKind = Readonly<Record<string, UseAccess>>;

interface TenantUpdate extends TenantChanges {
  access: AccessByKind;
}

export const FIRST_TENANT = 'default';
const NONE: ReadonlySet<string> = new Set();

interface TenantsDeps {
  kinds: readonly UseKind[];
  store: TenantStore;
  authentication: Pick<AuthenticationSwitch, 'state'>;
  /** Credentials of the tenant ended. */
  onRemoved(change: CredentialChange): void;
  /** Names of the modules that have something of the tenant which somebody made. */
  ownersOf(tenant: string): Promise<string[]>;
}

export class Tenants implements TenantRules {
  readonly #store: TenantStore;
  readonly #deps: TenantsDeps;
  #byId: ReadonlyMap<string, TenantRow> = new Map();
  /** Of reads that began, and the number of the one whose rows are in memory. */
  #nReads = 0;
  #known = 0;
  /** By tenant: the kinds of things of which only those that groups grant may be used. */
  #granted: ReadonlyMap<string, ReadonlySet<string>> = new Map();

  constructor(deps: TenantsDeps) {
    this.#store = deps.store;
    this.#deps = deps;
  }

  /** Reads the tenants again, as another process may have changed them. Of reads at the same time, the one that began last holds. */
  async refresh(): Promise<void> {
    this.#nReads += 1;
    const read = this.#nReads;
    const rows = await this.#store.all();
    if (read < this.#known) return;
    this.#known = read;
    this.#byId = new Map(rows.map((row) => [row.id, row]));
    this.#granted = new Map(rows.map((row) => [row.id, this.#grantedIn(row)]));
  }

  tokensPerMinute(tenant: string): number | undefined {
    return this.#byId.get(tenant)?.tokens_per_minute ?? undefined;
  }

  /** Without accounts everybody is the same tenant, and callers agree among themselves who goes first. */
  allowsPriority(tenant: string): boolean {
    if (this.#deps.authentication.state === 'off') return true;
    return this.#byId.get(tenant)?.priority === 1;
  }

  /** The kinds of things of which only those that groups grant may be used. */
  grantedKinds(tenant: string): ReadonlySet<string> {
    return this.#granted.get(tenant) ?? NONE;
  }

  /** Asks the database: another process may have made or deleted the tenant just now. */
  async exists(id: string): Promise<boolean> {
    await this.refresh();
    return this.#byId.has(id);
  }

  /** The tenant in which a caller makes something. Throws `tenant_not_found` for one that the caller does not administer, as for an unknown one. */
  async administered(asked: string | undefined, caller: Principal): Promise<string> {
    const tenant = asked ?? caller.tenant;
    const scope = administeredScope(caller);
    const isForeign = !isSystemScope(scope) && scope.tenant !== tenant;
    if (isForeign || !(await this.exists(tenant))) throw tenantNotFound(tenant);
    return tenant;
  }

  /** Those that the caller administers, by id. */
  async list(caller: Principal): Promise<TenantRow[]> {
    await this.refresh();
    const scope = administeredScope(caller);
    const all = [...this.#byId.values()];
    return isSystemScope(scope) ? all : all.filter(({ id }) => id === scope.tenant);
  }

  async create({ id, name, tokensPerMinute, priority, access }: NewTenant, source: AuditSource): Promise<TenantRow> {
    const row: TenantRow = {
      id,
      name: name ?? id,
      tokens_per_minute: tokensPerMinute ?? null,
      priority: priority === true ? 1 : 0,
      created_at: Date.now(),
      access: JSON.stringify(access),
    };
    const taken = identityError('tenant_exists', `There is a tenant ${id} already; choose another id.`);
    await this.#store
      .create(row, auditEntry(source, { action: 'tenant.create', target: id }))
      .catch((error: unknown) => translateUniqueViolation(error, taken));
    await this.refresh();
    return row;
  }

  async update(id: string, { access, ...changes }: TenantUpdate, source: AuditSource): Promise<TenantRow> {
    const changed = this.#deps.kinds.filter(({ name }) => access[name] !== undefined);
    const detail = { ...changes, ...writeByKind(changed, accessOf, (kind) => access[kind]) };
    const entry = auditEntry(source, { action: 'tenant.update', target: id, detail });
    const merged = (before: TenantRow): TenantChanges & Pick<TenantRow, 'access'> => ({
      ...changes,
      access: JSON.stringify({ ...accessIn(before), ...access }),
    });
    const row = await this.#store.update(id, merged, entry);
    if (row === undefined) throw tenantNotFound(id);
    await this.refresh();
    return row;
  }

  #grantedIn(row: TenantRow): ReadonlySet<string> {
    const access = accessIn(row);
    return new Set(this.#deps.kinds.flatMap(({ name }) => (access[name] === 'granted' ? [name] : [])));
  }

  /** With `force` its accounts go too, and what the modules have of it. Its id is not used again. */
  async remove(id: string, force: boolean, source: AuditSource): Promise<void> {
    if (id === FIRST_TENANT) throw identityError('forbidden', `The tenant ${id} is where accounts register; it stays.`);
    const owners = force ? [] : await this.#deps.ownersOf(id);
    const entry = auditEntry(source, { action: 'tenant.delete', target: id, detail: { force } });
    await this.#store.remove(
      id,
      (found) => {
        if (found === undefined) throw tenantNotFound(id);
        if (!force && (found.nUsers > 0 || owners.length > 0)) throw tenantNotEmpty(id, found.nUsers, owners);
      },
      entry,
    );
    this.#deps.onRemoved({ tenant: id, user: undefined, requestId: source.requestId });
    await this.refresh();
  }
}

export function accessIn({ access }: Pick<TenantRow, 'access'>): AccessByKind {
  return JSON.parse(access) as Record<string, UseAccess>;
}

function tenantNotEmpty(id: string, nUsers: number, owners: readonly string[]): Error {
  const kept = [...(nUsers > 0 ? [`${nUsers} accounts`] : []), ...owners.map((name) => `what the module ${name} keeps`)];
  return identityError('tenant_not_empty', `The tenant ${id} has ${kept.join(', ')}; ?force=true deletes that too, for good.`);
}

export function tenantNotFound(id: string): Error {
  return identityError('tenant_not_found', `There is no tenant ${id.slice(0, 128)}.`);
}
