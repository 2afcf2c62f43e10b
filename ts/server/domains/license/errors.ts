/** Refusals of the license module, and of routes that ask it. */
import { DomainError, type DomainErrorOptions } from '../../platform/errors/domain-error.ts';
import type { ErrorSpec } from '../../platform/http/errors.ts';

const specs = {
  feature_not_licensed: [403, 'The license does not have the feature that `feature` names; install one that has it.'],
  license_expired: [
    403,
    'The license and its grace period, or the evaluation, are over: what is there goes on to work, and nothing can be added. Install another license.',
  ],
  license_malformed: [422, 'The text is no license file.'],
  license_unknown_key: [422, 'The license is signed with a key that this version does not know; update svc.'],
  license_tampered: [422, 'The signature does not match the license: it was changed, or never issued.'],
  license_foreign: [422, 'The license is for another installation; ask for one that names `installation`.'],
  license_file_unwritable: [500, 'The license could not be stored; the sentence names the file.'],
} satisfies Record<string, [number, string]>;

export type LicenseErrorCode = keyof typeof specs;

/** Declarations for OpenAPI. */
export function errorSpecs(...codes: LicenseErrorCode[]): ErrorSpec[] {
  return codes.map((code) => ({ status: specs[code][0], code, meaning: specs[code][1] }));
}

/** What a route that calls `requireFeature` declares. */
export const featureErrors: readonly ErrorSpec[] = errorSpecs('feature_not_licensed', 'license_expired');

export function licenseError(code: LicenseErrorCode, sentence: string, options: DomainErrorOptions = {}): DomainError {
  return new DomainError(code, sentence, options);
}
