/** Refusals of metering. Those of quotas are answered by the routes that run models, which declare them too. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const meteringErrors = defineErrors('metering', {
  rate_limit_exceeded: [429, 'A quota by the minute is used up; `exceeded` names it.', 'Retry after the time in Retry-After.'],
  quota_exceeded: [
    429,
    'A quota by the month is used up; `exceeded` names it and says when it resets.',
    'Wait until then, or have the quota raised.',
  ],
  storage_unavailable: [503, 'The database cannot be read or written now, so what is used cannot be recorded.', 'Retry.'],
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.', 'Correct that member.'],
  tenant_not_found: [404, 'There is no such tenant.', 'List the tenants: `svc tenant list`.'],
  forbidden: [403, 'The role of the caller does not reach so far.', 'Ask an administrator.'],
});

/** What a route declares that has something metered. */
export const quotaErrors = meteringErrors.specs('rate_limit_exceeded', 'quota_exceeded', 'storage_unavailable');

export const meteringError = meteringErrors.error;
