/** Refusals of the science module. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const scienceErrors = defineErrors('science', {
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.', 'Correct that member.'],
  source_not_found: [404, 'There is no such source that the caller may use.', 'List them: `svc science sources`.'],
  request_not_found: [404, 'There is no such request for a source.', 'List them: `svc science requests`.'],
  no_source_enabled: [
    409,
    'None of the sources that the query could ask is enabled.',
    'Ask for one (`svc science request SOURCE`); an administrator enables it.',
  ],
  source_disabled: [
    409,
    'The source is not enabled for the tenant.',
    'Ask for it (`svc science request SOURCE`); an administrator enables it.',
  ],
  source_needs_key: [
    409,
    'The source answers nobody without a key.',
    'Send `key`; `needs_key` and the terms say where to get one.',
  ],
  source_key_elsewhere: [
    409,
    'The key of the source was given to another node, and is sealed for that one.',
    'Send the key to this node too.',
  ],
  source_rate_limited: [
    429,
    'The source takes no more requests now: by its documents, or because it said so.',
    'Ask again after `Retry-After`, or another source.',
  ],
  source_failed: [502, 'The source gave no answer that could be used; `detail` says why.', 'Try again later, or another source.'],
  source_timeout: [504, 'The source did not answer in its time.', 'Try again later, or ask for less.'],
});

export const scienceError = scienceErrors.error;
