/** Wires the metering module. */
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { MonthLoader } from './limits/month-loader.ts';
import { SubjectRegistry } from './limits/subject-registry.ts';
import { Maintenance } from './maintenance.ts';
import { MeteringBelongings } from './metering-belongings.ts';
import { MeteringService, RATE_LIMIT_HEADERS } from './metering-service.ts';
import { QuotaStore } from './quotas/quota-store.ts';
import { Quotas } from './quotas/quotas.ts';
import { everyTenant } from './reach.ts';
import { quotaRoutes } from './routes/quota-routes.ts';
import { usageRoute, usageSeriesRoute } from './routes/usage-routes.ts';
import type { meteringSettings } from './settings.ts';
import { RecentStore } from './shared/recent-store.ts';
import { SharedWindows } from './shared/shared-windows.ts';
import type { MeteringTables } from './tables.ts';
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
  const service = new MeteringService({ store, journal, registry, months, everyone, nodeId, now });
  const windows = new SharedWindows({ store: new RecentStore(storage), registry, months, everyone, nodeId, now });
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
