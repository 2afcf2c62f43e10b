/** A token by which one node joins the cluster, once: where controllers are, how their certificates look, and a secret that the cluster has the hash of. */
import { createHash, randomBytes } from 'node:crypto';
import { clusterErrors } from '../errors.ts';

interface Reached {
  /** HOST:PORT of a controller's link. */
  readonly address: string;
  /** SHA-256 of its certificate, as X509Certificate writes it. */
  readonly fingerprint: string;
}

export interface JoinToken extends Reached {
  readonly secret: string;
  /** Controllers that are asked where that one is not there. */
  readonly others?: readonly Reached[];
}

const PREFIX = 'svcj_';
const SECRET_BYTES = 32;
/** The longest names five controllers in it. */
export const JOIN_TOKEN_PATTERN = '^svcj_[A-Za-z0-9_-]{40,3000}$';
const SHAPE = new RegExp(JOIN_TOKEN_PATTERN);
const MOST_OTHERS = 4;
const ADDRESS = /^(\[[0-9A-Fa-f:.]{2,45}\]|[\w.-]{1,255}):\d{1,5}$/;
const FINGERPRINT = /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/;
const SECRET = /^[\w-]{43}$/;

export function newJoinSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** The first controller stands before the others, as in tokens of a node that names one alone. */
export function writeJoinToken({ address, fingerprint, secret, others = [] }: JoinToken): string {
  const more = others.slice(0, MOST_OTHERS).flatMap((other) => [other.address, other.fingerprint]);
  return `${PREFIX}${Buffer.from(JSON.stringify([address, fingerprint, secret, ...more])).toString('base64url')}`;
}

/** Throws `join_token_invalid`. */
export function readJoinToken(text: string): JoinToken {
  const [address, fingerprint, secret, ...more] = SHAPE.test(text) ? partsOf(text) : [];
  const first = reachedOf(address, fingerprint);
  const others = Array.from({ length: Math.ceil(more.length / 2) }, (_, n) => reachedOf(more[2 * n], more[2 * n + 1]));
  if (
    first !== undefined &&
    matches(SECRET, secret) &&
    others.length <= MOST_OTHERS &&
    others.every((other) => other !== undefined)
  )
    return { ...first, secret, others };
  throw clusterErrors.error('join_token_invalid', 'The text is no token of `svc node token`, or a part of it is missing.');
}

function reachedOf(address: unknown, fingerprint: unknown): Reached | undefined {
  return matches(ADDRESS, address) && matches(FINGERPRINT, fingerprint) ? { address, fingerprint } : undefined;
}

export function hashOfSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

function partsOf(text: string): unknown[] {
  try {
    const parts = JSON.parse(Buffer.from(text.slice(PREFIX.length), 'base64url').toString()) as unknown;
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

function matches(shape: RegExp, value: unknown): value is string {
  return typeof value === 'string' && shape.test(value);
}
