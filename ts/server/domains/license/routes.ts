/** What the license is, for everybody on the machine, and how an administrator installs one. */
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { licenseErrors } from './errors.ts';
import type { LicenseService } from './license-service.ts';
import { healthBody, LicenseHealth } from './schemas.ts';
import { MAX_LICENSE_BYTES, SignedLicense } from './signed-license.ts';

const { get, put } = routes({ tag: 'License', auth: 'local', errors: licenseErrors });

export function licenseRoutes(service: LicenseService): Route[] {
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
