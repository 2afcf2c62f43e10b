/** Refusals of the identity routes. */
import { type CodeOf, defineErrors } from '../../platform/errors/define-errors.ts';
import type { DomainError } from '../../platform/errors/domain-error.ts';
import type { StorageError } from '../../platform/storage/index.ts';

export const identityErrors = defineErrors('identity', {
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.', 'Correct that member.'],
  weak_password: [400, 'The password is too short or too easy to guess.', 'Choose a longer one that is no common word.'],
  service_account: [400, 'A service account has no password; it uses API keys.', 'Make an API key for it.'],
  invalid_capability: [
    400,
    'The token is no capability of this tenant that can be used; `reason` says why.',
    'Issue a new token.',
  ],
  capability_too_large: [
    400,
    'The token would be longer, or derived more often, than the server takes.',
    'Issue a new token in place of deriving once more.',
  ],
  invalid_reset_token: [400, 'The token was used, has expired, or was never issued.', 'Ask for another token.'],
  invalid_invitation: [
    400,
    'The invitation was used up, withdrawn, has expired, or was never made.',
    'Ask for another invitation.',
  ],
  invalid_logo: [400, 'The file is no picture that can be a logo; the sentence says why.', 'Send a PNG, JPEG or WebP picture.'],
  accent_unreadable: [
    400,
    'Text in this colour could not be read; the sentence says what to choose.',
    'Choose the colour that the sentence names.',
  ],
  invalid_return_to: [400, '`return_to` must be a path of this server.', 'Send a path, such as /chat.'],
  oidc_sign_in_failed: [
    400,
    'The provider, or the browser, did not bring what the sign-in needs; `reason` says what.',
    'Sign in again; compare the redirect address with the one at the provider.',
  ],
  invalid_credential: [
    401,
    'The credential, or the name and password, were refused; `reason` says why.',
    'Sign in again, or use another key.',
  ],
  setup_code_needed: [
    401,
    'The first account is made on the machine itself, or with the set-up code from the log.',
    'Read the code in the log, and send it in X-Svc-Setup-Code.',
  ],
  account_disabled: [403, 'An administrator disabled the account.', 'Ask an administrator to enable it.'],
  registration_closed: [403, 'Accounts are made by administrators here.', 'Ask an administrator for an invitation.'],
  oidc_not_authorized: [
    403,
    'The provider knows the person, but nothing here lets the person in; `reason` says why.',
    'An administrator adds a group of the person to identity.oidc.group_map.',
  ],
  forbidden: [403, 'The role of the caller does not reach so far.', 'Ask an administrator.'],
  scope_beyond_caller: [
    403,
    'A key can get no scope that the caller lacks.',
    'Ask for fewer scopes, or use a key that has them.',
  ],
  beyond_parent: [
    403,
    'A derived token can get nothing that its parent lacks.',
    'Ask for less, or derive it from a wider token.',
  ],
  no_account: [403, 'The caller belongs to no account.', 'Sign in, or use the key of an account.'],
  oidc_not_configured: [
    404,
    'No sign-in provider is configured.',
    'An administrator sets identity.oidc.*: see docs/admin/groups-and-sso.md.',
  ],
  user_not_found: [404, 'The tenant has no such account.', 'List the accounts: `svc user list`.'],
  logo_not_found: [404, 'The tenant has no logo.', 'Send one first.'],
  tenant_not_found: [404, 'There is no such tenant.', 'List the tenants: `svc tenant list`.'],
  group_not_found: [404, 'The tenant has no such group.', 'List the groups: `svc group list`.'],
  invitation_not_found: [404, 'The tenant has no such invitation.', 'List the invitations: `svc invite list`.'],
  link_not_found: [404, 'The account has no such link.', 'List the links of the account.'],
  key_not_found: [404, 'The account has no such key.', 'List the keys: `svc key list`.'],
  capability_not_found: [
    404,
    'There is no such capability token, or it is revoked already.',
    'List the tokens: `svc capability list`.',
  ],
  session_not_found: [404, 'The account has no such session.', 'List the sessions.'],
  name_taken: [409, 'Another account has the name or the address.', 'Choose another one.'],
  group_exists: [409, 'Another group of the tenant has the name.', 'Choose another name.'],
  tenant_exists: [409, 'There is a tenant of that id.', 'Choose another id.'],
  tenant_id_used: [409, 'A tenant of that id was deleted.', 'Choose another id.'],
  tenant_not_empty: [
    409,
    'The tenant has accounts, or modules keep something of it.',
    '`?force=true` deletes that too, for good.',
  ],
  superadmin_needed: [409, 'The first account of the installation is a superadmin.', 'Make that one first.'],
  last_superadmin: [
    409,
    'No superadmin who can sign in would be left: one with a password, or linked to the sign-in provider.',
    'Make another superadmin first.',
  ],
  several_keys: [409, 'The account has several keys.', 'Name one with key_id.'],
  too_many_attempts: [
    429,
    'Too many attempts came from this address, or for this account.',
    'Wait for the seconds in Retry-After.',
  ],
  oidc_provider_failed: [
    502,
    'The sign-in provider answered with something that cannot be trusted or used.',
    'Look at the log, and at identity.oidc.issuer.',
  ],
  oidc_provider_unreachable: [503, 'The sign-in provider does not answer.', 'Retry.'],
  mail_not_configured: [503, 'The node sends no e-mail.', 'An administrator issues a reset token: `svc user reset`.'],
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
