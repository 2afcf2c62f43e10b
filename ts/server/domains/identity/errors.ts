/** Refusals of the identity routes. */
import { DomainError, type DomainErrorOptions } from '../../platform/errors/domain-error.ts';
import type { ErrorSpec } from '../../platform/http/errors.ts';
import type { StorageError } from '../../platform/storage/index.ts';

const specs = {
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.'],
  weak_password: [400, 'The password is too short or too easy to guess.'],
  invalid_reset_token: [400, 'The token was used, has expired, or was never issued.'],
  invalid_credential: [401, 'The credential, or the name and password, were refused; `reason` says why.'],
  setup_code_needed: [401, 'The first account is made on the machine itself, or with the set-up code from the log.'],
  account_disabled: [403, 'An administrator disabled the account.'],
  registration_closed: [403, 'Accounts are made by administrators here.'],
  forbidden: [403, 'The role of the caller does not reach so far.'],
  scope_beyond_caller: [403, 'A key can get no scope that the caller lacks.'],
  no_account: [403, 'The caller belongs to no account.'],
  user_not_found: [404, 'The tenant has no such account.'],
  tenant_not_found: [404, 'There is no such tenant.'],
  key_not_found: [404, 'The account has no such key.'],
  session_not_found: [404, 'The account has no such session.'],
  name_taken: [409, 'Another account has the name or the address.'],
  tenant_exists: [409, 'There is a tenant of that id.'],
  tenant_not_empty: [409, 'The tenant has accounts; `?force=true` deletes them too.'],
  last_superadmin: [409, 'Somebody must be able to administer the installation.'],
  several_keys: [409, 'The account has several keys; name one with key_id.'],
  too_many_attempts: [429, 'Wait for the seconds in Retry-After.'],
  server_busy: [503, 'Too many passwords are being checked at once; retry shortly.'],
  account_service_unreachable: [503, 'Accounts cannot be read now; retry.'],
} satisfies Record<string, [number, string]>;

export type IdentityErrorCode = keyof typeof specs;

/** Declarations for OpenAPI. */
export function errorSpecs(...codes: IdentityErrorCode[]): ErrorSpec[] {
  return codes.map((code) => ({ status: specs[code][0], code, meaning: specs[code][1] }));
}

export type IdentityError = DomainError<IdentityErrorCode>;

export function identityError(code: IdentityErrorCode, sentence: string, options: DomainErrorOptions = {}): IdentityError {
  return new DomainError(code, sentence, options);
}

/** What a write meant whose value another row has already; other failures are passed on. */
export function translateUniqueViolation(error: unknown, meaning: IdentityError): never {
  throw (error as StorageError).code === 'unique_violation' ? meaning : error;
}
