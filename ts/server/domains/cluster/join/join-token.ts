/** A token by which one node joins the cluster, once: where a controller is, how its certificate looks, and a secret that the cluster has the hash of. */
import { createHash, randomBytes } from 'node:crypto';
import { clusterErrors } from '../errors.ts';

export interface JoinToken {
  /** HOST:PORT of a controller's link. */
  readonly address: string;
  /** SHA-256 of its certificate, as X509Certificate writes it. */
  readonly fingerprint: string;
  readonly secret: string;
}

const PREFIX = 'svcj_';
const SECRET_BYTES = 32;
const SHAPE = /^svcj_[\w-]{40,600}$/;
const ADDRESS = /^(\[[0-9A-Fa-f:.]{2,45}\]|[\w.-]{1,255}):\d{1,5}$/;
const FINGERPRINT = /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/;
const SECRET = /^[\w-]{43}$/;

export function newJoinSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

export function writeJoinToken({ address, fingerprint, secret }: JoinToken): string {
  return `${PREFIX}${Buffer.from(JSON.stringify([address, fingerprint, secret])).toString('base64url')}`;
}

/** Throws `join_token_invalid`. */
export function readJoinToken(text: string): JoinToken {
  const [address, fingerprint, secret] = SHAPE.test(text) ? partsOf(text) : [];
  if (matches(ADDRESS, address) && matches(FINGERPRINT, fingerprint) && matches(SECRET, secret))
    return { address, fingerprint, secret };
  throw clusterErrors.error('join_token_invalid', 'The text is no token of `svc node token`, or a part of it is missing.');
}

export function hashOfSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

function partsOf(text: string): unknown[] {
  try {
    const parts = JSON.parse(Buffer.from(text.slice(PREFIX.length), 'base64url').toString()) as unknown;
    return Array.isArray(parts) && parts.length === 3 ? parts : [];
  } catch {
    return [];
  }
}

function matches(shape: RegExp, value: unknown): value is string {
  return typeof value === 'string' && shape.test(value);
}
