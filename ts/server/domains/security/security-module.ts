/** Wires the security module. */

import type { Belongings } from '../../platform/module/belongings.ts';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { Repeater } from '../../platform/repeater.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import { everyTenant } from './access-check.ts';
import { DecisionStore } from './decision-store.ts';
import { Decisions } from './decisions.ts';
import { Enforcement } from './enforcement.ts';
import { EnforcementStore } from './enforcement-store.ts';
import { securityRoutes } from './routes.ts';
import type { SecurityStorage, SecurityTables } from './tables.ts';
import { ToolCalls } from './tool-calls.ts';

/** What modules with tools ask before they run one. While the role `security` is off, every call passes. */
export type SecurityApi = Pick<ToolCalls, 'checkToolCall' | 'requireToolCall' | 'leastRoleOf'>;

/** Another node on the same database may have switched a tenant's mode. */
const REFRESH_MS = 1_000;
const UPKEEP_MS = 60 * 60 * 1000;

export function createSecurity(context: ModuleContext<Record<never, never>>): Module<SecurityApi> {
  const { log, node, tenants } = context;
  const storage = context.storage.access<SecurityTables>();
  const everyone = everyTenant();
  const nodeId = (): string => node.id;
  let isRunning = false;
  const enforcement = new Enforcement({ store: new EnforcementStore(storage), everyone, nodeId });
  const decisions = new Decisions({ store: new DecisionStore(storage), everyone, log });
  const onError = (error: unknown) => log.warn('role enforcement could not be kept up to date', { error });
  const refresh = new Repeater({ intervalMs: REFRESH_MS, run: () => enforcement.refresh(), onError });
  const upkeep = new Repeater({ intervalMs: UPKEEP_MS, run: () => decisions.removeOld(), onError });
  return {
    api: new ToolCalls({ enforcement, decisions, nodeId, isRunning: () => isRunning }),
    routes: securityRoutes({ enforcement, decisions, tenants }),
    belongings: new SecurityBelongings(storage, enforcement),
    start: async () => {
      await enforcement.refresh();
      if (context.storage.dialect === 'postgres') refresh.start();
      upkeep.start();
      isRunning = true;
    },
    stop: async () => {
      isRunning = false;
      await Promise.all([refresh.stop(), upkeep.stop()]);
      await decisions.flush();
    },
    health: () => ({ state: { enforcement: enforcement.nodeMode }, reasons: [] }),
    ready: () => undefined,
  };
}

/** The mode and the decisions of tenants that are deleted. */
class SecurityBelongings implements Belongings {
  readonly #storage: SecurityStorage;
  readonly #enforcement: Enforcement;

  constructor(storage: SecurityStorage, enforcement: Enforcement) {
    this.#storage = storage;
    this.#enforcement = enforcement;
  }

  async eraseTenant(scope: TenantScope): Promise<void> {
    const { tenant } = scope;
    await this.#storage.writeUnit(scope, (db) => [
      db.deleteFrom('security_decisions').where('tenant', '=', tenant),
      db.deleteFrom('security_enforcement').where('kind', '=', 'tenant').where('id', '=', tenant),
    ]);
    await this.#enforcement.refresh();
  }
}
