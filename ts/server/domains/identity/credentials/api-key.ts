/**
 * The text of an API key: `svc_`, 30 random base62 digits (178 bits), and a checksum in 6. Whoever types or cuts a key wrongly is told without
 * a look into the database, and scanners of repositories can tell real keys from texts that look like one.
 */
import { crc32 } from 'node:zlib';
import { encodeBase62, randomBase62 } from '../secrets/base62.ts';

export const API_KEY_PREFIX = 'svc_';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SHAPE = /^svc_[0-9A-Za-z]{36}$/;
/** Shown in lists: enough to recognise a key, too little to guess the rest. */
const START_LENGTH = API_KEY_PREFIX.length + 6;

export function newApiKey(): string {
  const body = API_KEY_PREFIX + randomBase62(RANDOM_LENGTH);
  return body + checksum(body);
}

export function isWholeApiKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const end = API_KEY_PREFIX.length + RANDOM_LENGTH;
  return checksum(text.slice(0, end)) === text.slice(end);
}

export function startOfKey(key: string): string {
  return key.slice(0, START_LENGTH);
}

function checksum(body: string): string {
  return encodeBase62(crc32(body), CHECKSUM_LENGTH);
}
