/** Refusals of SCIM alone; what accounts and groups are refused for is identity's. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const scimErrors = defineErrors('scim', {
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.', 'Correct that member.'],
  resource_not_found: [
    404,
    'There is no such schema or kind of resource.',
    'Look at /scim/v2/Schemas and /scim/v2/ResourceTypes.',
  ],
  precondition_failed: [
    412,
    'The resource has changed since the version that If-Match names.',
    'Read it again, and repeat the change.',
  ],
});

export const scimError = scimErrors.error;
