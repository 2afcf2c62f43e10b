/**
 * A key that is nearly right takes as long as one that is entirely wrong. Samples of both are interleaved and compared with Welch's t-test; the same
 * test finds a comparison that stops at the first difference, so it would notice.
 */
import t from 'tap';
import { ANONYMOUS } from '../../../platform/http/principal.ts';
import { compareMeans, withoutInterrupted } from '../test-support/welch.ts';
import { newApiKey } from './api-key.ts';
import { CredentialCache } from './credential-cache.ts';
import { hashSecret, isSameHash, isSameSecret } from './secret-token.ts';

const SAMPLES = 3_000;
/** Comparisons in one sample, so that it is long beside the clock's steps. */
const PER_SAMPLE = 40;
/** Rounds of a machine that others use too: a real difference shows in all of them. */
const ROUNDS = 5;
/** Leakage tests use 4.5 on a quiet machine. */
const MAX_T = 10;
/** A difference that is proven and this small is one of caches and clocks. */
const MAX_RELATIVE = 0.05;

let sink = 0;

function sampleOf(compare: (given: string) => boolean, given: readonly string[]): number {
  const startedAt = performance.now();
  for (let n = 0; n < PER_SAMPLE; n += 1) sink += compare(given[n % given.length] ?? '') ? 1 : 0;
  return performance.now() - startedAt;
}

/** Whether a round leaves no doubt that the two differ. */
function differs(compare: (given: string) => boolean, near: readonly string[], far: readonly string[]): boolean {
  const samples: Record<'near' | 'far', number[]> = { near: [], far: [] };
  for (let n = 0; n < SAMPLES; n += 1) {
    const isNearFirst = Math.random() < 0.5;
    if (isNearFirst) samples.near.push(sampleOf(compare, near));
    samples.far.push(sampleOf(compare, far));
    if (!isNearFirst) samples.near.push(sampleOf(compare, near));
  }
  const { t: score, relative } = compareMeans(withoutInterrupted(samples.near), withoutInterrupted(samples.far));
  return Math.abs(score) > MAX_T && Math.abs(relative) > MAX_RELATIVE;
}

function alwaysDiffers(compare: (given: string) => boolean, near: readonly string[], far: readonly string[]): boolean {
  differs(compare, near, far);
  for (let round = 0; round < ROUNDS; round += 1) if (!differs(compare, near, far)) return false;
  return true;
}

/** In one piece, as a header's text is: V8 keeps what was put together in parts. */
function asSent(text: string): string {
  return Buffer.from(text).toString();
}

const key = newApiKey();
/** All but the last digits are right. */
const near = Array.from({ length: 8 }, (_, i) => asSent(`${key.slice(0, -1)}${'0123456789'.replace(key.slice(-1), '')[i]}`));
const far = near.map(() => asSent(newApiKey()));

function stopsAtTheFirstDifference(given: string): boolean {
  for (let i = 0; i < key.length; i += 1) if (given.charCodeAt(i) !== key.charCodeAt(i)) return false;
  return true;
}

t.test('the test notices a comparison that stops at the first difference', async (t) => {
  t.ok(alwaysDiffers(stopsAtTheFirstDifference, near, far));
});

t.test('secrets and hashes are compared in constant time', async (t) => {
  t.notOk(
    alwaysDiffers((given) => isSameSecret(given, key), near, far),
    'secrets',
  );
  const hash = hashSecret(key);
  const nearHashes = near.map((_, i) => `${hash.slice(0, -1)}${'ABCDEFGHI'.replace(hash.slice(-1), '')[i]}`);
  const farHashes = far.map(hashSecret);
  t.notOk(
    alwaysDiffers((given) => isSameHash(given, hash), nearHashes, farHashes),
    'hashes',
  );
});

t.test('a key is looked for in constant time, among those that are known', async (t) => {
  const cache = new CredentialCache({ maxAgeMs: () => Number.POSITIVE_INFINITY });
  const now = Date.now();
  const unlimited = { expiresAt: Number.POSITIVE_INFINITY, idleMs: Number.POSITIVE_INFINITY };
  const credential = {
    ...unlimited,
    principal: ANONYMOUS,
    id: 'key_a',
    kind: 'key',
    loadedAt: now,
    usedAt: now,
    notedAt: now,
  } as const;
  for (const known of [key, ...Array.from({ length: 999 }, newApiKey)])
    cache.add(hashSecret(known), { ...credential }, cache.version);
  t.ok(cache.find(hashSecret(key), now));
  t.notOk(alwaysDiffers((given) => cache.find(hashSecret(given), now) !== undefined, near, far));
  t.ok(sink >= 0);
});
