/** The answer to a credential that was judged and refused: the rules 7 to 9 of the interface's authentication part. */
import { HttpError } from '../../../platform/http/errors.ts';

const REASONS = {
  api_key_revoked: 'The API key was rotated or revoked, or its account was deleted or disabled. Use a newer key.',
  api_key_unknown: 'The API key was never issued here, or is not complete. Check that all of it was copied.',
  bad_encoding:
    'The token is no API key, session or capability of this service, or is not complete, or was derived in a form that is not taken here.',
  bad_signature: 'The signature of the token does not match what it says.',
  expired: 'The credential has expired, or was ended: its session closed, the capability or its parent revoked. Get a new one.',
  unknown_key: 'The token was signed for a tenant that does not exist here.',
} as const;

export type RefusalReason = keyof typeof REASONS;

/** On the chat-completions API clients match on `invalid_api_key`, whatever was wrong with it. */
export function refusedCredential(reason: RefusalReason, path: string): HttpError {
  const code = path.startsWith('/v1/') ? 'invalid_api_key' : 'invalid_credential';
  return new HttpError(401, code, REASONS[reason], { extra: { reason } });
}

/** The credential was not judged: the database does not answer. */
export function uncheckedCredential(cause: unknown): HttpError {
  const detail =
    'The credential could not be checked, because the accounts cannot be read now. It was not judged; retry shortly.';
  return new HttpError(503, 'credential_check_unavailable', detail, { cause, headers: { 'retry-after': '1' } });
}
