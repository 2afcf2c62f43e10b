/** What a failure of openid-client means to the person who signs in, and to the operator. Texts of the provider are not passed on. */
import { type IdentityError, identityError } from '../errors.ts';

interface LibraryError {
  name?: unknown;
  code?: unknown;
  /** OAuth's error code, on errors that the provider answered. */
  error?: unknown;
  message?: unknown;
}

/** Codes that mean that the code or the person was refused, and not that something is configured wrongly. */
const REFUSED_CODES = new Set(['invalid_grant', 'access_denied']);

export function providerFailure(thrown: unknown): IdentityError {
  const { name, code, error, message } = (thrown ?? {}) as LibraryError;
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR') return refusedByProvider(oauthCode(error), thrown);
  if (code === 'OAUTH_RESPONSE_BODY_ERROR' && REFUSED_CODES.has(oauthCode(error))) return codeRefused(thrown);
  if (isUnreachable(name, code, message)) return unreachable(thrown);
  const why = code === 'OAUTH_RESPONSE_BODY_ERROR' ? oauthCode(error) : plainCode(code);
  return identityError('oidc_provider_failed', `The sign-in provider gave an answer that cannot be used (${why}).`, {
    extra: { reason: why },
    cause: thrown,
  });
}

function refusedByProvider(why: string, cause: unknown): IdentityError {
  return identityError('oidc_sign_in_failed', `The sign-in provider refused (${why}). Start again.`, {
    extra: { reason: 'provider_refused', provider_error: why },
    cause,
  });
}

function codeRefused(cause: unknown): IdentityError {
  const detail = 'The sign-in provider takes this code no longer: it was used already, or has expired. Start again.';
  return identityError('oidc_sign_in_failed', detail, { extra: { reason: 'code_refused' }, cause });
}

function unreachable(cause: unknown): IdentityError {
  return identityError('oidc_provider_unreachable', 'The sign-in provider does not answer now; retry shortly.', {
    retryAfterMs: 5_000,
    cause,
  });
}

/** fetch() fails with a TypeError when nothing answers; time-outs have names and codes of their own. */
function isUnreachable(name: unknown, code: unknown, message: unknown): boolean {
  return code === 'OAUTH_TIMEOUT' || name === 'TimeoutError' || (name === 'TypeError' && message === 'fetch failed');
}

/** Registered error codes have these characters only (RFC 6749 section 4.1.2.1, narrowed). */
function oauthCode(error: unknown): string {
  return typeof error === 'string' && /^[a-z_]{1,64}$/.test(error) ? error : 'unknown_error';
}

function plainCode(code: unknown): string {
  return typeof code === 'string' && /^[A-Z_]{1,80}$/.test(code) ? code.toLowerCase().replace(/^oauth_/, '') : 'unknown';
}
