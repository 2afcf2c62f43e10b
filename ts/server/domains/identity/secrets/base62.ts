/** Numbers and random text in the digits 0-9, A-Z, a-z, which survive every shell, URL and double click. */
import { randomBytes } from 'node:crypto';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Bytes from here on would make the first digits more likely than the others. */
const UNBIASED = 256 - (256 % DIGITS.length);

export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(2 * length)) {
      if (byte < UNBIASED && text.length < length) text += DIGITS[byte % DIGITS.length];
    }
  }
  return text;
}

/** A non-negative integer with zeros in front, so that it has `length` digits. */
export function encodeBase62(value: number, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / DIGITS.length)) {
    text = `${DIGITS[rest % DIGITS.length]}${text}`;
  }
  return text;
}

/** An id that tells what it names: `usr_` and 16 random digits. */
export function newId(prefix: 'usr' | 'key' | 'ses' | 'cap' | 'grp' | 'inv'): string {
  return `${prefix}_${randomBase62(16)}`;
}
