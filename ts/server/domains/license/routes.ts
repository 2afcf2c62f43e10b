/** What the license is, for everybody on the machine, and how an administrator installs one. */
import { json, type Route, route } from '../../platform/http/route.ts';
import { errorSpecs } from './errors.ts';
import type { LicenseService } from './license-service.ts';
import { healthBody, LicenseHealth } from './schemas.ts';
import { MAX_LICENSE_BYTES, SignedLicense } from './signed-license.ts';

const tag = 'License';

export function licenseRoutes(service: LicenseService): Route[] {
  const shown = () => json(200, healthBody(service.status(), service.installation));
  return [
    route({
      method: 'GET',
      path: '/api/v1/license/health',
      auth: 'local',
      maxBody: 0,
      tag,
      summary: 'Tier, features and state of the license, or of the evaluation',
      responses: { 200: LicenseHealth },
      handle: shown,
    }),
    route({
      method: 'PUT',
      path: '/api/v1/license',
      auth: 'superadmin',
      maxBody: MAX_LICENSE_BYTES,
      tag,
      summary: 'Install a license on this node; it holds at once',
      description: 'The body is the license file. One that cannot be used is refused, and the one before stays in force.',
      body: SignedLicense,
      responses: { 200: LicenseHealth },
      errors: errorSpecs(
        ...([
          'license_malformed',
          'license_unknown_key',
          'license_tampered',
          'license_foreign',
          'license_file_unwritable',
        ] as const),
      ),
      handle: async ({ body }) => {
        await service.install(body);
        return shown();
      },
    }),
  ];
}
