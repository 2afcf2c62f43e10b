/** Refusals of the license module, and of routes that ask it. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const licenseErrors = defineErrors('license', {
  feature_not_licensed: [403, 'The license does not have the feature that `feature` names.', 'Install one that has it.'],
  license_expired: [
    403,
    'The license and its grace period, or the evaluation, are over: what is there goes on to work, and nothing can be added.',
    'Install another license.',
  ],
  license_malformed: [422, 'The text is no license file.', 'Send the file as it was issued.'],
  license_unknown_key: [422, 'The license is signed with a key that this version does not know.', 'Update svc.'],
  license_tampered: [
    422,
    'The signature does not match the license: it was changed, or never issued.',
    'Ask for the license again, and send it unchanged.',
  ],
  license_foreign: [422, 'The license is for another installation.', 'Ask for one that names `installation`.'],
  license_file_unwritable: [
    500,
    'The license could not be stored; the sentence names the file.',
    'Make the file writable for the server.',
  ],
});

/** What a route that calls `requireFeature` declares. */
export const featureErrors = licenseErrors.specs('feature_not_licensed', 'license_expired');

export const licenseError = licenseErrors.error;
