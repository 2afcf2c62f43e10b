/** Random secrets other than API keys, and the hash under which every secret is stored. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Prefixes tell scanners and people what a secret is for. */
type TokenPrefix = 'svcs_' | 'svcr_' | 'svcl_' | 'svci_';

const RANDOM_BYTES = 32;
const SHAPE = /^svc[srli]_[\w-]{43}$/;

/** 256 random bits. `svcs_`: a session, `svcr_`: a password reset, `svcl_`: the administrator of the machine, `svci_`: an invitation. */
export function newToken(prefix: TokenPrefix): string {
  return prefix + randomBytes(RANDOM_BYTES).toString('base64url');
}

export function isWholeToken(prefix: TokenPrefix, text: string): boolean {
  return text.startsWith(prefix) && SHAPE.test(text);
}

/** SHA-256. Secrets of 128 random bits and more need no slow hash: there is nothing to guess (ASVS 5.0, 6.5.2). */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** Both as hashSecret() gives them. In a time that does not depend on where they differ. */
export function isSameHash(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one, 'latin1'), Buffer.from(other, 'latin1'));
}

/** In a time that does not depend on where the texts differ. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}
