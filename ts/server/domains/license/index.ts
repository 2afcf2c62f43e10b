/**
 * The license module: which tier and features the installation has, by a signed file or by evaluation. It never stops inference, and never hides
 * what is there: without a license that holds, features take nothing new.
 */
import { defineModule, type ModuleDefinition } from '../../platform/module/module.ts';
import type { LicenseApi, LicenseOverrides } from './license-module.ts';
import { licenseMigrations } from './migrations.ts';
import { licenseSettings } from './settings.ts';

export { featureErrors } from './errors.ts';
export type { LicenseApi } from './license-module.ts';
export { productKeys } from './public-keys.ts';
export { inspectLicense, MAX_LICENSE_BYTES } from './signed-license.ts';

/** Tests put keys of their own in place of the product's. */
function defineLicense(overrides: LicenseOverrides = {}): ModuleDefinition<typeof licenseSettings, LicenseApi> {
  return defineModule({
    name: 'license',
    settings: licenseSettings,
    migrations: licenseMigrations,
    stateFiles: [{ name: 'license.json', kind: 'file' }],
    // Imported here, so that a program that only reads settings does not load the whole module.
    create: async (context) => (await import('./license-module.ts')).createLicense(context, overrides),
  });
}

export const license = defineLicense();
