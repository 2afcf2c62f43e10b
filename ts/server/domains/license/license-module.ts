/** Wires the license module. */

import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import type { HealthReason, Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { licenseErrors } from './errors.ts';
import type { Feature } from './features.ts';
import { type LicenseTables, readInstallation } from './installation-store.ts';
import { LicenseFile } from './license-file.ts';
import { LicenseService } from './license-service.ts';
import type { LicenseStatus } from './license-status.ts';
import { type PublicKeys, productKeys } from './public-keys.ts';
import { healthBody, LicenseHealth } from './schemas.ts';
import type { licenseSettings } from './settings.ts';
import { MAX_LICENSE_BYTES, SignedLicense } from './signed-license.ts';

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

const { get, put } = routes({ tag: 'License', auth: 'local', errors: licenseErrors });

/** The routes that show the license to everybody on the machine, and with which an administrator installs one. */
function licenseRoutes(service: LicenseService): Route[] {
  const shown = () => healthBody(service.status(), service.installation);
  return [
    get('/api/v1/license/health', {
      summary: 'Tier, features and state of the license, or of the evaluation',
      answer: LicenseHealth,
      handle: shown,
    }),
    put('/api/v1/license', {
      auth: 'superadmin',
      maxBody: MAX_LICENSE_BYTES,
      summary: 'Install a license on this node; it holds at once',
      description: 'The body is the license file. One that cannot be used is refused, and the one before stays in force.',
      body: SignedLicense,
      answer: LicenseHealth,
      errors: ['license_malformed', 'license_unknown_key', 'license_tampered', 'license_foreign', 'license_file_unwritable'],
      handle: async ({ body }) => {
        await service.install(body);
        return shown();
      },
    }),
  ];
}
