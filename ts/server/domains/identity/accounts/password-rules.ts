/** Which passwords are taken: length is what counts (NIST SP 800-63B, ASVS 5.0 chapter 6.2). */
import { identityError } from '../errors.ts';
import { nameKey } from './account-name.ts';

const MIN_PASSWORD_LENGTH = 8;
/** Longer texts are no better and cost time to hash. */
export const MAX_PASSWORD_LENGTH = 256;
const MIN_DISTINCT = 4;
/** What is tried first, in lowercase and without digits and signs at the end. */
const COMMON_PASSWORDS = new Set(
  'password passwort passw0rd letmein welcome qwerty qwertyuiop asdfghjkl iloveyou administrator admin changeme secret superman football'.split(
    ' ',
  ),
);
const SEQUENCES = ['01234567890', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiopasdfghjklzxcvbnm'];

/** Throws `weak_password` with what to change. */
export function requireStrongPassword(password: string, username: string): void {
  const fault = faultOf(password, nameKey(username));
  if (fault !== undefined)
    throw identityError('weak_password', `The password ${fault}. Use at least 8 characters, better a sentence.`);
}

function faultOf(password: string, name: string): string | undefined {
  if ([...password].length < MIN_PASSWORD_LENGTH) return 'is shorter than 8 characters';
  const plain = password.toLowerCase();
  if (new Set(plain).size < MIN_DISTINCT) return 'repeats a few characters';
  if (name.length >= 3 && plain.replace(name, '').length < 4) return 'is little more than the name of the account';
  if (SEQUENCES.some((sequence) => sequence.includes(plain))) return 'is a run of neighbouring characters';
  if (COMMON_PASSWORDS.has(plain) || COMMON_PASSWORDS.has(plain.replace(/(?<![^a-z])[^a-z]+$/, '')))
    return 'is among the first that are tried';
  return undefined;
}
