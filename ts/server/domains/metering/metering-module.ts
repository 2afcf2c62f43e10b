/** Wires the metering module. */

import type { Belongings } from '../../platform/module/belongings.ts';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { hourlyCounts, SERIES_STEP_MS, type SeriesSource } from '../../platform/series/series-registry.ts';
import type { SystemScope, TenantScope } from '../../platform/storage/index.ts';
import { eachTenant, everyTenant } from './access-check.ts';
import { budgetExceeded } from './events.ts';
import { MonthLoader, SubjectRegistry } from './limits/subject-registry.ts';
import { Maintenance } from './maintenance.ts';
import { MeteringService, RATE_LIMIT_HEADERS } from './metering-service.ts';
import { QuotaStore } from './quotas/quota-store.ts';
import { Quotas } from './quotas/quotas.ts';
import { quotaRoutes } from './routes/quota-routes.ts';
import { usageRoute, usageSeriesRoute } from './routes/usage-routes.ts';
import type { meteringSettings } from './settings.ts';
import { RecentStore } from './shared/recent-store.ts';
import { SharedWindows } from './shared/shared-windows.ts';
import type { MeteringStorage, MeteringTables } from './tables.ts';
import { UsageJournal } from './usage/usage-journal.ts';
import { UsageStore } from './usage/usage-store.ts';

/** What tests put in place of the real thing. */
export interface MeteringOverrides {
  now?: () => number;
}

/** What modules that use models ask for. */
export type MeteringApi = Pick<MeteringService, 'begin'>;

export function createMetering(
  context: ModuleContext<typeof meteringSettings>,
  { now = Date.now }: MeteringOverrides,
): Module<MeteringApi> {
  const { settings, log, node, tenants } = context;
  const storage = context.storage.access<MeteringTables>();
  const everyone = everyTenant();
  const nodeId = (): string => node.id;
  const store = new UsageStore(storage);
  const journal = new UsageJournal({ store, everyone, nodeId, log });
  const tenantTokensPerMinute = settings['metering.tenant_tokens_per_minute'] || undefined;
  const quotas = new Quotas({ store: new QuotaStore(storage), everyone, tenants, tenantTokensPerMinute });
  const registry = new SubjectRegistry(quotas.find);
  const months = new MonthLoader({ store, journal, everyone, nodeId });
  const service = new MeteringService({
    store,
    journal,
    registry,
    months,
    everyone,
    nodeId,
    now,
    onBudgetExceeded: (tenant, exceeded) => {
      context.events.send(eachTenant(tenant), budgetExceeded, exceeded).catch((error: unknown) => {
        log.warn('that a budget is used up was not told', { tenant, error: String(error) });
      });
    },
  });
  const windows = new SharedWindows({ store: new RecentStore(storage), registry, months, everyone, nodeId, now });
  context.series.register(usageSource(store, now));
  const isAlone = context.storage.dialect === 'sqlite';
  const keepDays = settings['metering.keep_days'];
  const maintenance = new Maintenance({ quotas, registry, store, windows, everyone, keepDays, isAlone, now, log });
  return {
    api: service,
    corsHeaders: { accepted: [], exposed: RATE_LIMIT_HEADERS },
    belongings: new MeteringBelongings(storage, quotas),
    routes: [
      ...quotaRoutes({ quotas, registry, months, tenants, now }),
      usageRoute({ store, journal, now }),
      usageSeriesRoute({ store, journal, now }),
    ],
    start: async () => {
      await journal.start();
      const nOpen = await service.reconcile();
      if (nOpen > 0)
        log.info('requests that a killed process left open were counted with all they may have used', { requests: nOpen });
      await quotas.refresh();
      maintenance.start();
    },
    stop: async () => {
      await maintenance.stop();
      await journal.stop();
    },
    health: () => ({ state: {}, reasons: [] }),
    ready: () => undefined,
  };
}

/** What the whole tenant used, by the hour. */
function usageSource(store: UsageStore, now: () => number): SeriesSource {
  const units = { 'usage.requests': 'requests', 'usage.tokens': 'tokens' } as const;
  const isUsage = (name: string): name is keyof typeof units => Object.hasOwn(units, name);
  return {
    name: 'usage',
    list: async () => Object.entries(units).map(([name, unit]) => ({ name, unit })),
    read: async (scope, name, since) => {
      if (!isUsage(name)) return undefined;
      const from = since - (since % SERIES_STEP_MS);
      const query = { by: 'model', from, to: now(), user: undefined, stepMs: SERIES_STEP_MS, nGroups: 0 } as const;
      const points = await store.series(scope, query);
      return hourlyCounts(new Map(points.map((point) => [Number(point.at), Number(point[units[name]])])), now());
    },
  };
}

/** Usage and quotas of tenants that are deleted, and quotas of accounts. The usage of an account stays its tenant's. */
class MeteringBelongings implements Belongings {
  readonly #storage: MeteringStorage;
  readonly #quotas: Quotas;

  constructor(storage: MeteringStorage, quotas: Quotas) {
    this.#storage = storage;
    this.#quotas = quotas;
  }

  async eraseTenant(scope: TenantScope): Promise<void> {
    await this.#storage.writeUnit(scope, (db) =>
      (['metering_open', 'metering_usage', 'metering_quotas', 'metering_recent'] as const).map((table) =>
        db.deleteFrom(table).where('tenant', '=', scope.tenant),
      ),
    );
    await this.#quotas.refresh();
  }

  async eraseAccount(everyone: SystemScope, accountId: string): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [
      db.deleteFrom('metering_quotas').where('kind', '=', 'user').where('subject', '=', accountId),
    ]);
    await this.#quotas.refresh();
  }
}
