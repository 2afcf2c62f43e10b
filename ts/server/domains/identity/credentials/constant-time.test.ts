/**
 * A key that is nearly right takes as long as one that is entirely wrong. Samples of both are interleaved and compared with Welch's t-test; the same
 * test finds a comparison that stops at the first difference, so it would notice.
 */
import t from 'tap';
import { random } from '../../../../../test/test-support/seed.ts';
import { ANONYMOUS } from '../../../platform/http/principal.ts';
import { hashSecret, isSameHash, isSameSecret } from '../secrets/secret-token.ts';
import { compareMeans, withoutInterrupted } from '../test-support/welch.ts';
import { newApiKey } from './api-key.ts';
import { CredentialCache } from './credential-cache.ts';

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

/** What is compared in a round: nearly right, and entirely wrong. */
interface Attempts {
  near: readonly string[];
  far: readonly string[];
}

function sampleOf(compare: (given: string) => boolean, given: readonly string[]): number {
  const startedAt = performance.now();
  for (const attempt of given) sink += compare(attempt) ? 1 : 0;
  return performance.now() - startedAt;
}

/** Whether a round leaves no doubt that the two differ. */
function differs(compare: (given: string) => boolean, { near, far }: Attempts): boolean {
  const samples: Record<'near' | 'far', number[]> = { near: [], far: [] };
  for (let n = 0; n < SAMPLES; n += 1) {
    const isNearFirst = random.chance(0.5);
    if (isNearFirst) samples.near.push(sampleOf(compare, near));
    samples.far.push(sampleOf(compare, far));
    if (!isNearFirst) samples.near.push(sampleOf(compare, near));
  }
  const { t: score, relative } = compareMeans(withoutInterrupted(samples.near), withoutInterrupted(samples.far));
  return Math.abs(score) > MAX_T && Math.abs(relative) > MAX_RELATIVE;
}

/** With other attempts in each round: where a table puts one by its hash is chance, which would be the same in all rounds. */
function alwaysDiffers(compare: (given: string) => boolean, attempts: () => Attempts): boolean {
  differs(compare, attempts());
  for (let round = 0; round < ROUNDS; round += 1) if (!differs(compare, attempts())) return false;
  return true;
}

/** In one piece, as a header's text is: V8 keeps what was put together in parts. */
function asSent(text: string): string {
  return Buffer.from(text).toString();
}

const key = newApiKey();

/** An attempt that differs from a text in its last characters alone. */
function nearly(text: string): string {
  for (;;) {
    const attempt = asSent(text.slice(0, -2) + newApiKey().slice(-2));
    if (attempt !== text) return attempt;
  }
}

function attemptsAt(text: string, wrong: () => string): Attempts {
  const of = (make: () => string) => Array.from({ length: PER_SAMPLE }, make);
  return { near: of(() => nearly(text)), far: of(wrong) };
}

const attempts = (): Attempts => attemptsAt(key, () => asSent(newApiKey()));

function stopsAtTheFirstDifference(given: string): boolean {
  for (let i = 0; i < key.length; i += 1) if (given.charCodeAt(i) !== key.charCodeAt(i)) return false;
  return true;
}

t.test('the test notices a comparison that stops at the first difference', async (t) => {
  t.ok(alwaysDiffers(stopsAtTheFirstDifference, attempts), 'noticed');
});

t.test('secrets and hashes are compared in constant time', async (t) => {
  t.notOk(
    alwaysDiffers((given) => isSameSecret(given, key), attempts),
    'secrets',
  );
  const hash = hashSecret(key);
  t.notOk(
    alwaysDiffers(
      (given) => isSameHash(given, hash),
      () => attemptsAt(hash, () => hashSecret(newApiKey())),
    ),
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
  t.ok(cache.find(hashSecret(key), now), 'found');
  t.notOk(
    alwaysDiffers((given) => cache.find(hashSecret(given), now) !== undefined, attempts),
    'keys',
  );
  t.equal(sink, 0, 'no attempt was right');
});
