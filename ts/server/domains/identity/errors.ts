/** Refusals of the identity routes. */
import { type CodeOf, defineErrors } from '../../platform/errors/define-errors.ts';
import type { DomainError } from '../../platform/errors/domain-error.ts';
import type { StorageError } from '../../platform/storage/index.ts';

export const identityErrors = defineErrors('identity', {
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.'],
  weak_password: [400, 'The password is too short or too easy to guess.'],
  service_account: [400, 'A service account has no password; it uses API keys.'],
  invalid_capability: [400, 'The token is no capability of this tenant that can be used; `reason` says why.'],
  capability_too_large: [400, 'The token would be longer, or derived more often, than the server takes.'],
  invalid_reset_token: [400, 'The token was used, has expired, or was never issued.'],
  invalid_invitation: [400, 'The invitation was used up, withdrawn, has expired, or was never made.'],
  invalid_logo: [400, 'The file is no picture that can be a logo; the sentence says why.'],
  accent_unreadable: [400, 'Text in this colour could not be read; the sentence says what to choose.'],
  invalid_return_to: [400, '`return_to` must be a path of this server.'],
  oidc_sign_in_failed: [400, 'The provider, or the browser, did not bring what the sign-in needs; `reason` says what.'],
  invalid_credential: [401, 'The credential, or the name and password, were refused; `reason` says why.'],
  setup_code_needed: [401, 'The first account is made on the machine itself, or with the set-up code from the log.'],
  account_disabled: [403, 'An administrator disabled the account.'],
  registration_closed: [403, 'Accounts are made by administrators here.'],
  oidc_not_authorized: [403, 'The provider knows the person, but nothing here lets the person in; `reason` says why.'],
  forbidden: [403, 'The role of the caller does not reach so far.'],
  scope_beyond_caller: [403, 'A key can get no scope that the caller lacks.'],
  beyond_parent: [403, 'A derived token can get nothing that its parent lacks.'],
  no_account: [403, 'The caller belongs to no account.'],
  oidc_not_configured: [404, 'No sign-in provider is configured.'],
  resource_not_found: [404, 'There is no such schema or kind of resource.'],
  user_not_found: [404, 'The tenant has no such account.'],
  logo_not_found: [404, 'The tenant has no logo.'],
  tenant_not_found: [404, 'There is no such tenant.'],
  group_not_found: [404, 'The tenant has no such group.'],
  invitation_not_found: [404, 'The tenant has no such invitation.'],
  link_not_found: [404, 'The account has no such link.'],
  key_not_found: [404, 'The account has no such key.'],
  capability_not_found: [404, 'There is no such capability token, or it is revoked already.'],
  session_not_found: [404, 'The account has no such session.'],
  name_taken: [409, 'Another account has the name or the address.'],
  group_exists: [409, 'Another group of the tenant has the name.'],
  tenant_exists: [409, 'There is a tenant of that id.'],
  tenant_id_used: [409, 'A tenant of that id was deleted.', 'Choose another id.'],
  tenant_not_empty: [409, 'The tenant has accounts, or modules keep something of it; `?force=true` deletes that too.'],
  superadmin_needed: [409, 'The first account of the installation is a superadmin.', 'Make that one first.'],
  last_superadmin: [409, 'No superadmin who can sign in would be left: one with a password, or linked to the sign-in provider.'],
  several_keys: [409, 'The account has several keys.', 'Name one with key_id.'],
  precondition_failed: [412, 'The resource has changed since the version that If-Match names.'],
  too_many_attempts: [429, 'Wait for the seconds in Retry-After.'],
  oidc_provider_failed: [502, 'The sign-in provider answered with something that cannot be trusted or used.'],
  oidc_provider_unreachable: [503, 'The sign-in provider does not answer.', 'Retry.'],
  mail_not_configured: [503, 'The node sends no e-mail; an administrator issues reset tokens.'],
  server_busy: [503, 'Too many passwords are being checked at once.', 'Retry shortly.'],
  account_service_unreachable: [503, 'Accounts cannot be read or written now.', 'Retry.'],
});

export type IdentityErrorCode = CodeOf<typeof identityErrors>;

export type IdentityError = DomainError<IdentityErrorCode>;

export const identityError = identityErrors.error;

/** What a write meant whose value another row has already; other failures are passed on. */
export function translateUniqueViolation(error: unknown, meaning: IdentityError): never {
  throw (error as StorageError).code === 'unique_violation' ? meaning : error;
}
