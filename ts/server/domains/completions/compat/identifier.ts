/** Ids in the style of each API, for example chatcmpl-8f3a...; unguessable, 24 characters after the prefix. */
import { randomBytes } from 'node:crypto';

export function identifier(prefix: string): string {
  return prefix + randomBytes(12).toString('hex');
}

export function unixSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
