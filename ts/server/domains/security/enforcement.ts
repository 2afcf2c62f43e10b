/** The mode that holds for each call: that of the caller's tenant, else that of the node. In memory, for each call that asks. */
import type { SystemScope } from '../../platform/storage/index.ts';
import { DEFAULT_MODE, type EnforcementMode } from './enforcement-mode.ts';
import type { EnforcementStore } from './enforcement-store.ts';

interface EnforcementDeps {
  store: EnforcementStore;
  everyone: SystemScope;
  nodeId(): string;
}

export class Enforcement {
  readonly #deps: EnforcementDeps;
  #nodeMode: EnforcementMode = DEFAULT_MODE;
  #tenantModes: ReadonlyMap<string, EnforcementMode> = new Map();

  constructor(deps: EnforcementDeps) {
    this.#deps = deps;
  }

  get nodeMode(): EnforcementMode {
    return this.#nodeMode;
  }

  /** Tenants with a mode of their own. */
  get tenantModes(): ReadonlyMap<string, EnforcementMode> {
    return this.#tenantModes;
  }

  modeOf(tenant: string): EnforcementMode {
    return this.#tenantModes.get(tenant) ?? this.#nodeMode;
  }

  /** Reads the modes anew, as another process may have changed them. */
  async refresh(): Promise<void> {
    const { store, everyone, nodeId } = this.#deps;
    const rows = await store.all(everyone);
    this.#nodeMode = rows.find(({ kind, id }) => kind === 'node' && id === nodeId())?.mode ?? DEFAULT_MODE;
    this.#tenantModes = new Map(rows.filter(({ kind }) => kind === 'tenant').map(({ id, mode }) => [id, mode]));
  }

  async setNode(mode: EnforcementMode): Promise<void> {
    const { store, everyone, nodeId } = this.#deps;
    await store.set(everyone, 'node', nodeId(), mode);
    await this.refresh();
  }

  /** Undefined: the tenant goes by the node. */
  async setTenant(tenant: string, mode: EnforcementMode | undefined): Promise<void> {
    const { store, everyone } = this.#deps;
    await store.set(everyone, 'tenant', tenant, mode);
    await this.refresh();
  }
}
