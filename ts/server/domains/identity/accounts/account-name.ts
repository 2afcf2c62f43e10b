/** Names and addresses of accounts in the form in which two are compared. */
import { normalized } from '../../../platform/text/normalized.ts';

/** Compatibility characters and case make no difference, so that nobody can register a name that looks like another's. */
export function nameKey(text: string): string {
  return normalized(text, 'NFKC').toLowerCase();
}

/** 1 to 64 letters, digits and `._@+-`, beginning with a letter or digit; for the schema of requests. */
export const USERNAME_PATTERN = '^[\\p{L}\\p{N}][\\p{L}\\p{N}._@+-]{0,63}$';
/** Whether an address takes mail only mail can tell; this keeps out what is none. */
export const EMAIL_PATTERN = '^[^\\s@<>"]{1,64}@[^\\s@<>"]{1,190}$';

/** What directories and sign-in providers name people: also addresses, and what they put into those of guests. */
const EXTERNAL_USERNAME = /^[\p{L}\p{N}][\p{L}\p{N}._@+#'!~^-]{0,127}$/u;

export function isExternalUsername(name: string): boolean {
  return EXTERNAL_USERNAME.test(name);
}
