/** Wires the license module. */
import type { HealthReason, Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import type { Feature } from './features.ts';
import { type LicenseTables, readInstallation } from './installation-store.ts';
import { LicenseFile } from './license-file.ts';
import { LicenseService } from './license-service.ts';
import type { LicenseStatus } from './license-status.ts';
import { type PublicKeys, productKeys } from './public-keys.ts';
import { licenseRoutes } from './routes.ts';
import type { licenseSettings } from './settings.ts';

/** What tests put in place of the real thing. */
export interface LicenseOverrides {
  keys?: PublicKeys;
  now?: () => number;
}

/** What modules of higher tiers ask. */
export interface LicenseApi {
  /**
   * For what adds to a feature, a document to a knowledge base for example; what is there already is served without asking. Throws a DomainError
   * `feature_not_licensed` or `license_expired`: a route declares both with `featureErrors`.
   */
  requireFeature(feature: Feature): void;
  /** Whether the license has the feature, be it expired or not. */
  has(feature: Feature): boolean;
  status(): LicenseStatus;
}

export function createLicense(context: ModuleContext<typeof licenseSettings>, overrides: LicenseOverrides): Module<LicenseApi> {
  const { settings, log } = context;
  const storage = context.storage.access<LicenseTables>();
  const file = new LicenseFile(settings['license.file']);
  const service = new LicenseService({
    file,
    log,
    keys: overrides.keys ?? productKeys,
    now: overrides.now ?? Date.now,
  });
  return {
    api: service,
    routes: licenseRoutes(service),
    start: async () => service.start(await readInstallation(storage)),
    stop: () => service.stop(),
    health: () => ({ state: {}, reasons: reasonsOf(service.status()) }),
    ready: () => undefined,
  };
}

/** An evaluation is no defect of the node. */
function reasonsOf({ state, fault }: LicenseStatus): HealthReason[] {
  const remedy = 'see `svc license show`';
  if (fault !== undefined) return [{ code: fault.code, detail: `The license file is not used: ${fault.detail}.` }];
  if (state === 'active' || state === 'evaluation') return [];
  const code = `license_${state}`;
  if (state === 'grace') return [{ code, detail: `The license has expired and its grace period runs: ${remedy}.` }];
  return [{ code, detail: `Nothing can be added to what needs a license: ${remedy}.` }];
}
